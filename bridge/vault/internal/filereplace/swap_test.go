package filereplace

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
	"github.com/relayfs/relayfs/tests/need"
)

func TestMain(m *testing.M) {
	need.Waiting()
	m.Run()
}

// These tests go through a swap step by step and let a user save in between.

type world struct {
	t      *testing.T
	dir    string
	o      Options
	folder *vaultdir.Folder
	s      *Swapper
}

// worlds are where a swap has its temp file: next to the note, and in the swap folder.
var worlds = map[string]func(*testing.T, string) *world{
	"beside":      newWorld,
	"swap folder": func(t *testing.T, text string) *world { return newWorldWith(t, text, t.TempDir(), slog.DiscardHandler) },
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	return newWorldWith(t, text, "", slog.DiscardHandler)
}

func newWorldWith(t *testing.T, text, swapFolder string, log slog.Handler) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.save("N.md", text)
	w.o = Options{Folder: swapFolder, Log: slog.New(log)}
	w.o.Read = func(rel string) ([]byte, model.Stamp, error) { return w.folder.Read(rel) } // nobody waits for a save
	w.o.Syncs = &vaultdir.Syncs{Log: w.o.Log}
	w.start(w.dir)
	return w
}

// start has a new process serve the folder at path.
func (w *world) start(path string) {
	w.t.Helper()
	var err error
	w.folder, err = vaultdir.Open(disk.OS{}, path)
	w.ok(err)
	w.o.Vault = w.folder
	w.s = New(w.o)
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) save(name, text string) {
	w.t.Helper()
	w.ok(os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o644))
}

func (w *world) saveByRename(name, text string) {
	w.t.Helper()
	w.save("their-temp", text)
	w.ok(os.Rename(filepath.Join(w.dir, "their-temp"), filepath.Join(w.dir, name)))
}

func (w *world) open(name string) *os.File {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDWR, 0)
	w.ok(err)
	w.t.Cleanup(func() { f.Close() })
	return f
}

// stage begins to replace N.md by text.
func (w *world) stage(text string) *Swap {
	w.t.Helper()
	return w.stageAt(text, time.Now())
}

func (w *world) stageAt(text string, modTime time.Time) *Swap {
	w.t.Helper()
	at, err := w.folder.Locate("N.md")
	w.ok(err)
	at.Close()
	s, err := w.s.Stage("N.md", model.Replacement{IfMatch: vaultdir.StampOf(&at.Info), Data: []byte(text), ModTime: modTime})
	w.ok(err)
	return s
}

func (w *world) close() {
	w.t.Helper()
	w.s.Close()
}

// want checks, after everything has settled, what the directory holds.
func (w *world) want(files map[string]string) {
	w.t.Helper()
	w.close()
	files = maps.Clone(files)
	entries, err := os.ReadDir(w.dir)
	w.ok(err)
	for _, e := range entries {
		name := e.Name()
		if before, after, ok := strings.Cut(name, " (conflicted copy "); ok {
			name = before + " (conflict)" + after[strings.LastIndexByte(after, '.'):]
		}
		data, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
		w.ok(err)
		if want, ok := files[name]; !ok || want != string(data) {
			w.t.Errorf("%s holds %q, want %q (%v)", e.Name(), data, want, ok)
		}
		delete(files, name)
	}
	if len(files) > 0 {
		w.t.Errorf("missing: %v", files)
	}
	if w.o.Folder == "" {
		return
	}
	left, err := os.ReadDir(w.o.Folder)
	if err != nil || len(left) > 0 {
		w.t.Errorf("in the swap folder: %v, %v", left, err)
	}
}

func TestSaveBetweenCheckAndCommit(t *testing.T) {
	t.Parallel()
	for temp, newWorld := range worlds {
		for name, save := range saves {
			t.Run(name+", "+temp, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "old\n")
				s := w.stage("ours\n")
				w.ok(s.check())
				save(w, "N.md", "hers\n")
				if _, err := s.Commit(); !errors.Is(err, model.ErrConflict) {
					t.Errorf("error %v, want a conflict", err)
				}
				s.Close()
				w.want(map[string]string{"N.md": "hers\n"})
			})
		}
	}
}

var saves = map[string]func(*world, string, string){"in place": (*world).save, "by rename": (*world).saveByRename}

func TestRemovedBetweenCheckAndCommit(t *testing.T) {
	for temp, newWorld := range worlds {
		t.Run(temp, func(t *testing.T) {
			w := newWorld(t, "old\n")
			s := w.stage("ours\n")
			w.ok(s.check())
			w.ok(os.Remove(filepath.Join(w.dir, "N.md")))
			if _, err := s.Commit(); !errors.Is(err, model.ErrConflict) {
				t.Errorf("error %v, want a conflict", err)
			}
			s.Close()
			w.want(map[string]string{})
		})
	}
}

// TestSaveDuringUndo has two saves: one slips in before the exchange, the other reaches our file before it is undone.
func TestSaveDuringUndo(t *testing.T) {
	t.Parallel()
	for temp, newWorld := range worlds {
		for name, save := range saves {
			t.Run(name+", "+temp, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "top\nmiddle\nend\n")
				s := w.stage("top\nmiddle, ours\nend\n")
				w.save("N.md", "top, first save\nmiddle\nend\n")
				exchanged, err := s.rename()
				if !exchanged || err != nil || s.displaced() {
					t.Fatalf("exchanged %v, error %v, displaced what was expected %v", exchanged, err, s.displaced())
				}
				save(w, "N.md", "top\nmiddle, ours\nend, second save\n")
				if err := s.undo(); !errors.Is(err, model.ErrConflict) {
					t.Errorf("error %v, want a conflict", err)
				}
				s.Close()
				w.want(map[string]string{"N.md": "top, first save\nmiddle\nend, second save\n"})
			})
		}
	}
}

func TestMovedAwayDuringUndo(t *testing.T) {
	for temp, newWorld := range worlds {
		t.Run(temp, func(t *testing.T) {
			w := newWorld(t, "old\n")
			s := w.stage("ours\n")
			w.save("N.md", "hers\n")
			if _, err := s.rename(); err != nil {
				t.Fatal(err)
			}
			w.ok(os.Remove(filepath.Join(w.dir, "N.md")))
			if err := s.undo(); !errors.Is(err, model.ErrConflict) {
				t.Errorf("error %v, want a conflict", err)
			}
			s.Close()
			w.want(map[string]string{"N.md": "hers\n"})
		})
	}
}

// TestLateSave writes to the file that a swap displaced.
func TestLateSave(t *testing.T) {
	t.Parallel()
	const old = "top\nmiddle\nend\n"
	tests := []struct {
		name string
		late func(w *world, f *os.File)
		want map[string]string
	}{
		{"append", func(w *world, f *os.File) {
			_, err := f.WriteAt([]byte("more\n"), int64(len(old)))
			w.ok(err)
		}, map[string]string{"N.md": "top\nmiddle, ours\nend\nmore\n"}},
		{"rewrite elsewhere", func(w *world, f *os.File) {
			w.ok(f.Truncate(0))
			_, err := f.WriteAt([]byte("top, hers\nmiddle\nend\n"), 0)
			w.ok(err)
		}, map[string]string{"N.md": "top, hers\nmiddle, ours\nend\n"}},
		{"rewrite in the same place", func(w *world, f *os.File) {
			w.ok(f.Truncate(0))
			_, err := f.WriteAt([]byte("top\nmiddle, hers\nend\n"), 0)
			w.ok(err)
		}, map[string]string{"N.md": "top\nmiddle, ours\nend\n", "N (conflict).md": "top\nmiddle, hers\nend\n"}},
		{"the note is gone", func(w *world, f *os.File) {
			w.ok(os.Remove(filepath.Join(w.dir, "N.md")))
			_, err := f.WriteAt([]byte("TOP"), 0)
			w.ok(err)
		}, map[string]string{"N (conflict).md": "TOP\nmiddle\nend\n"}},
		{"nothing", func(*world, *os.File) {}, map[string]string{"N.md": "top\nmiddle, ours\nend\n"}},
	}
	for temp, newWorld := range worlds {
		for _, plain := range []bool{false, true} {
			for _, tt := range tests {
				name := tt.name + ", " + temp
				if plain {
					name += ", disk without exchange"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, old)
					w.s.noExchange.Store(plain)
					f := w.open("N.md")
					s := w.stage("top\nmiddle, ours\nend\n")
					w.ok(s.check())
					_, err := s.Commit()
					w.ok(err)
					s.Close()
					tt.late(w, f)
					w.want(tt.want)
				})
			}
		}
	}
}

// TestStampOfAChangedFile says that Replace never returns the stamp of bytes that are not its own.
func TestStampOfAChangedFile(t *testing.T) {
	w := newWorld(t, "old\n")
	s := w.stage("ours\n")
	_, err := s.rename()
	w.ok(err)
	w.save("N.md", "hers, soon after\n")
	stamp := s.temp.Placed()
	_, now, err := w.folder.Read("N.md")
	w.ok(err)
	if stamp == now {
		t.Error("the stamp names the person's bytes")
	}
	s.Close()
	w.want(map[string]string{"N.md": "hers, soon after\n"})
}

func TestMoveAsideNumbers(t *testing.T) {
	w := newWorld(t, "0")
	dir, err := w.folder.OpenRoot()
	w.ok(err)
	defer dir.Close()
	long := strings.Repeat("é", 126) + ".md" // 255 bytes
	dotted := "x." + strings.Repeat("y", 253)
	for i, wanted := range []string{"N.md", "N.md", long, long, dotted, dotted} {
		w.save("from", string(rune('1'+i)))
		_, err := MoveAside(dir, "from", dir, wanted)
		w.ok(err)
	}
	w.want(map[string]string{
		"N.md": "0", "N 1.md": "1", "N 2.md": "2",
		long: "3", strings.Repeat("é", 125) + " 1.md": "4",
		dotted: "5", dotted[:253] + " 1": "6",
	})
}

// A note with several names gets a file of its own, and that is told.
func TestReplaceHardLink(t *testing.T) {
	var log bytes.Buffer
	w := newWorldWith(t, "old\n", "", slog.NewTextHandler(&log, nil))
	w.ok(os.Link(filepath.Join(w.dir, "N.md"), filepath.Join(w.dir, "Other.md")))
	for _, text := range []string{"new\n", "newer\n"} {
		s := w.stage(text)
		_, err := s.Commit()
		w.ok(err)
		s.Close()
	}
	w.want(map[string]string{"N.md": "newer\n", "Other.md": "old\n"})
	if n := strings.Count(log.String(), "hard links"); n != 1 {
		t.Errorf("told %d times, want once: %s", n, &log)
	}
}
