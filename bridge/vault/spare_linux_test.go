package vault

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge"
)

// spareWorld is a world whose vault has a spare file, made by a first save.
func spareWorld(t *testing.T, text string) *world {
	t.Helper()
	w := newWorldWith(t, "first\n", Options{Spares: t.TempDir()})
	w.ok(w.replace(text))
	w.v.settling.Wait()
	return w
}

func inodeOf(t *testing.T, path string) uint64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Ino
}

// spareFiles are the paths of the files that are kept ready.
func (w *world) spareFiles() []string {
	w.t.Helper()
	list, err := filepath.Glob(filepath.Join(w.v.o.Spares, ".*"))
	w.ok(err)
	return list
}

// A save takes the spare file, whatever the sizes are, and leaves another.
func TestSpare(t *testing.T) {
	w := spareWorld(t, "second\n")
	long := strings.Repeat("A long line of text.\n", 10_000)
	for _, text := range []string{"third\n", long, "", "short", long + long, strings.Repeat("x", 4096), long} {
		files := w.spareFiles()
		if len(files) != 1 {
			t.Fatalf("kept ready: %v", files)
		}
		spare := inodeOf(t, files[0])
		w.ok(w.replace(text))
		if got := inodeOf(t, filepath.Join(w.dir, "N.md")); got != spare {
			t.Errorf("the note is file %d, not the spare one, %d", got, spare)
		}
		data, err := os.ReadFile(filepath.Join(w.dir, "N.md"))
		if err != nil || string(data) != text {
			t.Errorf("the note has %d bytes, want %d, %v", len(data), len(text), err)
		}
		w.v.settling.Wait()
	}
	w.want(map[string]string{"N.md": long})
}

// A killed process leaves a spare file, or what a swap displaced.
func TestSweepSpares(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"blank": strings.Repeat("\x00", 4096), "empty": "", "full": "hers\n"} {
		if err := os.WriteFile(filepath.Join(dir, ".relayfs-0123-"+name+".tmp"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorldWith(t, "text\n", Options{Spares: dir})
	w.ok(w.v.Scan(t.Context(), func(bridge.SourceEntry) {}))
	recovered, err := os.ReadFile(filepath.Join(w.dir, ".trash/relayfs recovered.md"))
	if err != nil || string(recovered) != "hers\n" {
		t.Errorf("the trash has %q, %v", recovered, err)
	}
	w.ok(os.RemoveAll(filepath.Join(w.dir, ".trash")))
	w.want(map[string]string{"N.md": "text\n"})
}

// Where nothing can be moved to from the folder of spare files, though it is on the
// same disk, saves do without.
func TestSpareElsewhere(t *testing.T) {
	w := spareWorld(t, "second\n")
	bound := t.TempDir()
	if err := unix.Mount(w.dir, bound, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("bind mounts need root: %v", err)
	}
	defer unix.Unmount(bound, unix.MNT_DETACH)
	w.v.dir = bound
	for _, text := range []string{"third\n", "fourth\n"} {
		w.ok(w.replace(text))
		w.v.settling.Wait()
		if files := w.spareFiles(); len(files) > 0 {
			t.Errorf("kept ready: %v", files)
		}
	}
	w.want(map[string]string{"N.md": "fourth\n"})
}

// What people attached to a note stays with it: tags of a file manager, an access
// control list.
func TestReplaceKeepsAttributes(t *testing.T) {
	acl := []byte{2, 0, 0, 0}
	for _, e := range [][4]byte{{1, 6}, {2, 6, 0xd2, 0x04}, {4, 4}, {0x10, 6}, {0x20, 4}} { // tag, permissions, user
		id := []byte{0xff, 0xff, 0xff, 0xff}
		if e[0] == 2 {
			id = []byte{e[2], e[3], 0, 0}
		}
		acl = append(append(acl, e[0], 0, e[1], 0), id...)
	}
	for temp, newWorld := range worlds {
		t.Run(temp, func(t *testing.T) {
			w := newWorld(t, "old\n")
			name := filepath.Join(w.dir, "N.md")
			attributes := map[string][]byte{"user.xdg.tags": []byte("plan,2026"), "system.posix_acl_access": acl}
			for attr, value := range attributes {
				if err := unix.Setxattr(name, attr, value, 0); err != nil {
					t.Skipf("the disk keeps no %s: %v", attr, err)
				}
			}
			w.ok(w.replace("new\n"))
			for attr, want := range attributes {
				got := make([]byte, 100)
				n, err := unix.Getxattr(name, attr, got)
				if err != nil || !bytes.Equal(got[:n], want) {
					t.Errorf("%s is %x, %v; want %x", attr, got[:max(n, 0)], err, want)
				}
			}
			w.want(map[string]string{"N.md": "new\n"})
		})
	}
}
