package filereplace

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// Time in these tests is that of testing/synctest: it stands still while anybody
// works, so that what depends on it is the same on every machine.

// inBubble is a test with a world in it, on a disk that grants leases.
func inBubble(t *testing.T, text string, test func(*testing.T, *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, text)
		release, err := w.onDisk("N.md").Lease()
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("this disk grants no leases")
		}
		w.ok(err)
		release()
		test(t, w)
	})
}

// onDisk opens a file as the vault does.
func (w *world) onDisk(name string) disk.File {
	w.t.Helper()
	root, err := w.folder.OpenRoot()
	w.ok(err)
	defer root.Close()
	f, err := root.Open(name, os.O_RDONLY, 0)
	w.ok(err)
	w.t.Cleanup(func() { f.Close() })
	return f
}

func (w *world) openToRead(name string) *os.File {
	w.t.Helper()
	f, err := os.Open(w.dir + "/" + name)
	w.ok(err)
	w.t.Cleanup(func() { f.Close() })
	return f
}

func (w *world) replace(text string) error {
	s := w.stage(text)
	defer s.Close()
	_, err := s.Commit()
	return err
}

// A program has opened the note to save it, and is slow: the swap waits for it,
// and does not show anybody the note without its save.
func TestSwapWaitsForASave(t *testing.T) {
	for name, steps := range map[string][]string{
		"which is whole": {"hers\n"}, "which comes in pieces": {"he", "rs\n"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, "old\n", func(t *testing.T, w *world) {
				f := w.open("N.md")
				go func() {
					time.Sleep(vaultdir.QuietAge / 4)
					w.ok(f.Truncate(0))
					for _, text := range steps {
						time.Sleep(vaultdir.QuietAge / 4)
						_, err := f.WriteString(text)
						w.ok(err)
					}
					w.ok(f.Close())
				}()
				if err := w.replace("ours\n"); !errors.Is(err, model.ErrConflict) {
					t.Errorf("error %v, want a conflict", err)
				}
				w.want(map[string]string{"N.md": "hers\n"})
			})
		})
	}
}

// A program keeps the note open and saves when the note has long been replaced:
// each of its saves reaches the note, the first and the last.
func TestSaveLongAfter(t *testing.T) {
	inBubble(t, "top\nmiddle\nend\n", func(t *testing.T, w *world) {
		f := w.open("N.md")
		w.ok(w.replace("top\nmiddle, ours\nend\n"))
		at := int64(len("top\nmiddle\nend\n"))
		for _, text := range []string{"first\n", "second\n"} {
			time.Sleep(time.Hour)
			n, err := f.WriteAt([]byte(text), at)
			w.ok(err)
			at += int64(n)
		}
		w.ok(f.Close())
		w.want(map[string]string{"N.md": "top\nmiddle, ours\nend\nfirst\nsecond\n"})
	})
}

// The watcher does not keep a large text that a program has saved.
func TestLargeSaveLongAfter(t *testing.T) {
	inBubble(t, "old\n", func(t *testing.T, w *world) {
		f := w.open("N.md")
		w.ok(w.replace("ours\n"))
		w.ok(f.Truncate(maxAncestor + 1))
		time.Sleep(time.Hour)
		w.s.late.mu.Lock()
		if files := w.s.late.files; len(files) != 1 || files[0].last.Size != maxAncestor+1 || files[0].data != nil {
			t.Errorf("not one large file without data: %d", len(files))
		}
		w.s.late.mu.Unlock()
		w.ok(f.Close())
		w.close()
	})
}

// A program was about to open the note when it was replaced, and comes to do so when a busy machine lets it run again.
func TestOpenAfterReplace(t *testing.T) {
	inBubble(t, "top\nmiddle\nend\n", func(t *testing.T, w *world) {
		reader := w.openToRead("N.md") // the way to the file once it has lost its name
		w.ok(w.replace("top\nmiddle, ours\nend\n"))
		time.Sleep(1500 * time.Millisecond) // of the two seconds for which it is watched
		displaced := fmt.Sprintf("/proc/self/fd/%d", reader.Fd())
		w.ok(os.WriteFile(displaced, []byte("top, hers\nmiddle\nend\n"), 0))
		w.want(map[string]string{"N.md": "top, hers\nmiddle, ours\nend\n"})
	})
}

// Whoever has a replaced note open forever keeps nobody from closing the vault.
func TestCloseWithAWriter(t *testing.T) {
	inBubble(t, "old\n", func(t *testing.T, w *world) {
		w.open("N.md")
		w.ok(w.replace("ours\n"))
		time.Sleep(time.Hour)
		start := time.Now()
		w.want(map[string]string{"N.md": "ours\n"})
		if took := time.Since(start); took > time.Second {
			t.Errorf("closing took %v", took)
		}
	})
}

// Beyond the limit, the oldest file is checked once more: a save in it is merged at once, and the file is closed.
func TestTooManyFiles(t *testing.T) {
	inBubble(t, "top\nmiddle\nend\n", func(t *testing.T, w *world) {
		w.s.late.max = 1
		f := w.open("N.md")
		w.ok(w.replace("top\nmiddle, ours\nend\n"))
		_, err := f.WriteAt([]byte("top\nmiddle\nend\nhers\n"), 0)
		w.ok(err)
		w.ok(w.replace("top\nmiddle, ours again\nend\n"))
		time.Sleep(vaultdir.QuietAge / 2) // shorter than the end of a save takes to show
		w.s.late.mu.Lock()
		files := len(w.s.late.files)
		w.s.late.mu.Unlock()
		if files > 1 {
			t.Errorf("%d files are watched", files)
		}
		w.want(map[string]string{"N.md": "top\nmiddle, ours again\nend\nhers\n"})
	})
}

// A file that a program can still write to has a name, by which the next process finds it after a kill.
func TestWritableFileKeepsAName(t *testing.T) {
	inBubble(t, "old\n", func(t *testing.T, w *world) {
		f := w.open("N.md")
		w.ok(w.replace("ours\n"))
		time.Sleep(time.Hour)
		if w.temp() == "" {
			t.Error("the file has no name")
		}
		w.ok(f.Close())
		time.Sleep(time.Hour)
		if left := w.temp(); left != "" {
			t.Errorf("%s is left", left)
		}
	})
}
