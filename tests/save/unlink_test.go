package save

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// makers are the ways in which a file gets its name and content; each closes it.
var makers = []struct {
	name string
	fill func(f *os.File) error
}{
	{"written", func(f *os.File) error { _, err := f.WriteString("some text\n"); return err }},
	{"written twice", func(f *os.File) error {
		if _, err := f.WriteString("some text\n"); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		_, err := f.WriteString("and more\n")
		return err
	}},
	{"empty, synced", func(f *os.File) error { return f.Sync() }},
	{"empty, with a time", func(f *os.File) error {
		return os.Chtimes(f.Name(), time.Now(), time.Now())
	}},
}

// A file that was removed stays removed, also if its last save was under way then.
func TestRemovedStaysRemoved(t *testing.T) {
	t.Parallel()
	rounds := 100
	if os.Getenv("RELAYFS_SOAK") != "" {
		rounds = 2000
	}
	for mode, flags := range harness.FileModes {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			rng := randomtest.New(t)
			s := harness.NewSandbox(t)
			m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "Sub/keep.md": "keep\n"}), flags...)
			const lanes = 4 // at the same time, as agents' tools do it
			var wg sync.WaitGroup
			for lane := range lanes {
				mine := rand.New(rand.NewPCG(rng.Uint64(), 0))
				wg.Go(func() {
					for i := range rounds / lanes {
						name := m.Path(fmt.Sprintf("Sub/%d-%d.md", lane, i))
						maker := makers[mine.IntN(len(makers))]
						delay := time.Duration(mine.Int64N(int64(10 * time.Millisecond)))
						if err := makeAndRemove(name, maker.fill, delay); err != nil {
							t.Errorf("%s, removed after %v: %v", maker.name, delay, err)
						}
					}
				})
			}
			wg.Wait()
			removed := func() error {
				for _, dir := range []string{m.Path("Sub"), m.VaultPath("Sub")} {
					for _, name := range harness.ListFiles(t, dir) {
						if name != "keep.md" {
							return fmt.Errorf("%s is there", filepath.Join(dir, name))
						}
					}
				}
				return nil
			}
			time.Sleep(heldBack)
			harness.Eventually(t, harness.StartTimeout, removed)
			m.Stop(t)
			m = s.MountAt(t, m.Vault, m.Dir, flags...)
			if err := removed(); err != nil {
				t.Errorf("after a restart: %v", err)
			}
			if out := s.Run(t, "suggestions", "list", "--json", m.Vault); strings.Contains(out.Stdout, `"Vault/Sub/`) {
				t.Errorf("suggestions for what was removed: %s", out.Stdout)
			}
		})
	}
}

// makeAndRemove makes a file and closes it, while another thread removes it some
// time after it got its name.
func makeAndRemove(name string, fill func(*os.File) error, delay time.Duration) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	closed := make(chan error, 1)
	go func() {
		err := fill(f)
		if errors.Is(err, fs.ErrNotExist) { // the time is set by name
			err = nil
		}
		closed <- errors.Join(err, f.Close())
	}()
	time.Sleep(delay)
	err = os.Remove(name)
	if _, statErr := os.Lstat(name); !errors.Is(statErr, syscall.ENOENT) {
		err = errors.Join(err, fmt.Errorf("stat after removal: %w", errOr(statErr, "it is there")))
	}
	return errors.Join(err, <-closed)
}

func errOr(err error, text string) error {
	if err == nil {
		return errors.New(text)
	}
	return err
}

// What was written to a person's note before its removal was proposed is not lost
// with it: a person who keeps the note finds it.
func TestSaveBeforeProposedRemoval(t *testing.T) {
	t.Parallel()
	const notes = 4 // more would be too many at once
	files := make(map[string]string)
	for i := range 100 {
		files[fmt.Sprintf("Notes/%d.md", i)] = harness.TideTable
	}
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", files))
	for i := range notes {
		name := m.Path(fmt.Sprintf("Notes/%d.md", i))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(f, "added %d\n", i); err != nil {
			t.Fatal(err)
		}
		closed := make(chan error, 1)
		closing := func() { closed <- f.Close() }
		if i%2 == 0 {
			go closing()
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if i%2 != 0 {
			closing()
		}
		if err := <-closed; err != nil {
			t.Errorf("close beside a removal: %v", err)
		}
	}
	for i := range notes {
		name := fmt.Sprintf("Notes/%d.md", i)
		if _, err := os.Lstat(m.Path(name)); !errors.Is(err, syscall.ENOENT) {
			t.Errorf("%s is on the mount: %v", name, errOr(err, "found"))
		}
		if raw := harness.ReadFile(t, m.VaultPath(name)); !strings.Contains(raw, fmt.Sprintf("added %d", i)) {
			t.Errorf("%s in the vault has lost what was added: %q", name, raw)
		}
	}
	if out := s.Run(t, "suggestions", "list", m.Vault); strings.Count(out.Stdout, "delete") < notes {
		t.Errorf("not all removals are proposed: %s", out.Stdout)
	}
}
