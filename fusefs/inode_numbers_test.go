package fusefs

import (
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
)

// A path has the same number in every process; what is renamed takes its number
// along, and no two files have the same.
func TestInodeNumbers(t *testing.T) {
	t.Parallel()
	one, other := newInodeNumbers(), newInodeNumbers()
	a := one.of("F/a.md", 10)
	if other := other.of("F/a.md", 77); other != a {
		t.Errorf("F/a.md is %d in one process and %d in another", a, other)
	}
	if moved := one.of("F/c.md", 10); moved != a {
		t.Errorf("F/a.md was %d, renamed it is %d", a, moved)
	}
	if next := one.of("F/a.md", 11); next == a || next == 0 {
		t.Errorf("a new F/a.md is %d, the old one still is %d", next, a)
	}
	for _, p := range []model.Path{"F/a.md", "x", "F/灯台.md"} {
		if n := fingerprint(p); n < 2 || n >= firstInode {
			t.Errorf("number of %q is %d", p, n)
		}
	}
}

// A note that was made on the mount, renamed or saved by rename has the same number on the next mount, and no two have one.
func TestInodeNumbersAfterARestart(t *testing.T) {
	t.Parallel()
	state := owner.Folder(t.TempDir())
	source, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	source.Person(t).Save("a.md", "one\n")
	source.Person(t).Save("b.md", "two\n")
	numbers := func(change func(dir string)) map[string]uint64 {
		ws, err := bridge.New(bridge.Options{Structure: bridge.StructureDirect, Roots: []bridge.RootSource{{Name: "F", Source: source, Store: store}}})
		if err == nil {
			err = ws.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		server, err := Mount(t.Context(), ws, dir, Options{Author: "agent", State: state})
		if err != nil {
			t.Fatal(err)
		}
		defer server.Unmount()
		change(filepath.Join(dir, "F"))
		found := make(map[string]uint64)
		list, err := os.ReadDir(filepath.Join(dir, "F"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			found[e.Name()] = info.Sys().(*syscall.Stat_t).Ino
		}
		return found
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	save := func(dir, name string) {
		must(os.WriteFile(filepath.Join(dir, name+".tmp"), []byte("saved\n"), 0o644))
		must(os.Rename(filepath.Join(dir, name+".tmp"), filepath.Join(dir, name)))
	}
	first := numbers(func(dir string) {
		save(dir, "a.md")
		must(os.WriteFile(filepath.Join(dir, "new.md"), []byte("new\n"), 0o644))
		must(os.Rename(filepath.Join(dir, "b.md"), filepath.Join(dir, "c.md")))
	})
	for range 2 {
		if again := numbers(func(string) {}); !maps.Equal(again, first) || len(again) != 3 {
			t.Errorf("the numbers were %v, and are %v", first, again)
		}
	}
	more := numbers(func(dir string) {
		save(dir, "new.md")
		must(os.WriteFile(filepath.Join(dir, "b.md"), []byte("other\n"), 0o644))
	})
	seen := make(map[uint64]string)
	for name, ino := range more {
		if other := seen[ino]; other != "" {
			t.Errorf("%s and %s have the number %d", name, other, ino)
		}
		seen[ino] = name
	}
	if again := numbers(func(string) {}); !maps.Equal(again, more) {
		t.Errorf("the numbers were %v, and are %v", more, again)
	}
}
