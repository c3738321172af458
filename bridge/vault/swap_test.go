package vault

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// These tests go through a swap step by step and let a person save in between.

type world struct {
	t   *testing.T
	dir string
	v   *Vault
}

// worlds are where a swap has its temp file: beside the note, and in the folder of
// the swap folder.
var worlds = map[string]func(*testing.T, string) *world{
	"beside":      newWorld,
	"swap folder": func(t *testing.T, text string) *world { return newWorldWith(t, text, Options{Swap: t.TempDir()}) },
}

func newWorld(t *testing.T, text string) *world {
	t.Helper()
	return newWorldWith(t, text, Options{})
}

func newWorldWith(t *testing.T, text string, o Options) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	w.save("N.md", text)
	var err error
	w.v, err = New(w.dir, o)
	w.ok(err)
	return w
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
func (w *world) stage(text string) *swap {
	w.t.Helper()
	p, err := w.v.locate("N.md")
	w.ok(err)
	p.Close()
	s, err := w.v.stage("N.md", model.Replacement{Expect: stampOf(&p.stat), Data: []byte(text), ModTime: time.Now()})
	w.ok(err)
	return s
}

// want checks, after everything has settled, what the directory holds.
func (w *world) want(files map[string]string) {
	w.t.Helper()
	w.ok(w.v.Close())
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
	if w.v.o.Swap == "" {
		return
	}
	left, err := os.ReadDir(w.v.o.Swap)
	if err != nil || len(left) > 0 {
		w.t.Errorf("in the swap folder: %v, %v", left, err)
	}
}

func TestSaveBetweenCheckAndCommit(t *testing.T) {
	for temp, newWorld := range worlds {
		for name, save := range saves {
			t.Run(name+", "+temp, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, "old\n")
				s := w.stage("ours\n")
				w.ok(s.check())
				save(w, "N.md", "hers\n")
				if _, err := s.commit(); !errors.Is(err, model.ErrConflict) {
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
			if _, err := s.commit(); !errors.Is(err, model.ErrConflict) {
				t.Errorf("error %v, want a conflict", err)
			}
			s.Close()
			w.want(map[string]string{})
		})
	}
}

// TestSaveDuringUndo has two saves: one slips in before the exchange, the other
// reaches our file before it is taken back.
func TestSaveDuringUndo(t *testing.T) {
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
					w.v.noExchange.Store(plain)
					f := w.open("N.md")
					s := w.stage("top\nmiddle, ours\nend\n")
					w.ok(s.check())
					_, err := s.commit()
					w.ok(err)
					s.Close()
					tt.late(w, f)
					w.want(tt.want)
				})
			}
		}
	}
}

// TestStampOfAChangedFile says that Replace never returns the stamp of bytes
// that are not its own.
func TestStampOfAChangedFile(t *testing.T) {
	w := newWorld(t, "old\n")
	s := w.stage("ours\n")
	_, err := s.rename()
	w.ok(err)
	w.save("N.md", "hers, soon after\n")
	stamp := s.temp.placed()
	_, now, err := w.v.readOnce("N.md")
	w.ok(err)
	if stamp == now {
		t.Error("the stamp names the person's bytes")
	}
	s.Close()
	w.want(map[string]string{"N.md": "hers, soon after\n"})
}

func TestSweep(t *testing.T) {
	w := newWorld(t, "text\n")
	w.ok(os.Mkdir(filepath.Join(w.dir, "sub"), 0o755))
	w.save("sub/.relayfs-0123.tmp", "left by a killed process\n")
	v, err := New(w.dir, Options{})
	w.ok(err)
	for _, name := range []string{"untouched", "written to"} {
		f := filepath.Join(w.dir, "sub", name)
		w.ok(os.WriteFile(f, []byte("old\n"), 0o644))
		info, err := os.Stat(f)
		w.ok(err)
		displaced := filepath.Join(w.dir, "sub", displacedName(w.v.tempPrefix, model.Stamp{Size: info.Size(), ModTime: info.ModTime().UnixNano()}))
		w.ok(os.Rename(f, displaced))
		if name == "written to" {
			w.ok(os.WriteFile(displaced, []byte("old, and late\n"), 0o644))
		}
	}
	inUse := v.tempName()
	w.save(inUse, "of an operation that runs now\n")
	w.ok(v.Scan(t.Context(), func(e model.SourceEntry) {
		if isTemp(e.Rel) {
			t.Errorf("temp file %s is reported", e.Rel)
		}
	}))
	if _, err := os.Stat(filepath.Join(w.dir, "sub/.relayfs-0123.tmp")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left-over file: %v, want it gone", err)
	}
	recovered := make(map[string]bool)
	entries, err := os.ReadDir(filepath.Join(w.dir, ".trash"))
	w.ok(err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(w.dir, ".trash", e.Name()))
		w.ok(err)
		recovered[string(data)] = true
	}
	if want := map[string]bool{"left by a killed process\n": true, "old, and late\n": true}; !maps.Equal(recovered, want) {
		t.Errorf("the trash holds %v, want %v", recovered, want)
	}
	if _, err := os.Stat(filepath.Join(w.dir, inUse)); err != nil {
		t.Errorf("temp file in use: %v", err)
	}
}

func TestMoveAsideNumbers(t *testing.T) {
	w := newWorld(t, "0")
	dir, err := w.v.openRoot()
	w.ok(err)
	defer dir.Close()
	long := strings.Repeat("é", 126) + ".md" // 255 bytes
	for i, wanted := range []string{"N.md", "N.md", long, long} {
		w.save("from", string(rune('1'+i)))
		_, err := moveAside(dir, "from", dir, wanted)
		w.ok(err)
	}
	w.want(map[string]string{
		"N.md": "0", "N 1.md": "1", "N 2.md": "2",
		long: "3", strings.Repeat("é", 125) + " 1.md": "4",
	})
}

// What a save displaced beside the note does not keep the note's folder from being
// removed at once.
func TestRemoveFolderAfterSave(t *testing.T) {
	w := newWorld(t, "old\n")
	w.ok(os.Mkdir(filepath.Join(w.dir, "sub"), 0o755))
	displaced := filepath.Join(w.dir, "sub", w.v.tempName())
	w.ok(os.WriteFile(displaced, nil, 0o600))
	time.AfterFunc(50*time.Millisecond, func() { os.Remove(displaced) })
	w.ok(w.v.Remove(t.Context(), "sub"))
	w.want(map[string]string{"N.md": "old\n"})
}

// A note with several names gets a file of its own, and that is told.
func TestReplaceHardLink(t *testing.T) {
	var log bytes.Buffer
	w := newWorldWith(t, "old\n", Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w.ok(os.Link(filepath.Join(w.dir, "N.md"), filepath.Join(w.dir, "Other.md")))
	for _, text := range []string{"new\n", "newer\n"} {
		s := w.stage(text)
		_, err := s.commit()
		w.ok(err)
		s.Close()
	}
	w.want(map[string]string{"N.md": "newer\n", "Other.md": "old\n"})
	if n := strings.Count(log.String(), "hard links"); n != 1 {
		t.Errorf("told %d times, want once: %s", n, &log)
	}
}

// What goes wrong in Meanwhile ends the save and leaves nothing behind; a panic
// reaches who saves.
func TestMeanwhileFails(t *testing.T) {
	for temp, newWorld := range worlds {
		for name, fail := range map[string]func(model.Stamp) error{
			"error": func(model.Stamp) error { return fs.ErrInvalid },
			"panic": func(model.Stamp) error { panic("out of order") },
		} {
			t.Run(name+", "+temp, func(t *testing.T) {
				w := newWorld(t, "old\n")
				_, stamp, err := w.v.Read(t.Context(), "N.md")
				w.ok(err)
				defer func() {
					reason := recover()
					if panicked := reason != nil; panicked != (name == "panic") {
						t.Errorf("panic: %v", reason)
					}
					w.want(map[string]string{"N.md": "old\n"})
				}()
				_, err = w.v.Replace(t.Context(), "N.md", model.Replacement{Expect: stamp, Data: []byte("new\n"), ModTime: time.Now(), Meanwhile: fail})
				if !errors.Is(err, fs.ErrInvalid) {
					t.Errorf("error %v, want what Meanwhile says", err)
				}
			})
		}
	}
}
