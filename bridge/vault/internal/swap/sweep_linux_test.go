package swap

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/folder"
)

// A power cut leaves names and bytes in any state that they had since they were last
// synced. At each of them the next scan leaves the old note or the new one, whole, and
// nothing else.
func TestTornSaves(t *testing.T) {
	const old, new = "the old text\n", "the new text, which is longer\n"
	lose := map[string]func(data []byte) []byte{
		"whole":    func(data []byte) []byte { return data },
		"nothing":  func([]byte) []byte { return nil },
		"zeros":    func(data []byte) []byte { return make([]byte, len(data)) },
		"the half": func(data []byte) []byte { return data[:len(data)/2] },
	}
	for world, newWorld := range worlds {
		for name, lose := range lose {
			for _, stage := range []string{"filled", "exchanged", "verified"} {
				t.Run(world+"/"+stage+"/"+name, func(t *testing.T) {
					w := newWorld(t, old)
					post := w.killed(stage, new)
					file := filepath.Join(w.dir, "N.md") // the one with the new bytes
					if stage == "filled" {
						file = w.temp()
					}
					w.truncateTo(file, lose)
					w.start(w.dir)
					w.sweep()
					want := old
					if stage != "filled" && name == "whole" {
						want = new
					}
					got, err := os.ReadFile(filepath.Join(w.dir, "N.md"))
					if err != nil || string(got) != want {
						t.Errorf("the note has %q, %v, want %q", got, err, want)
					}
					if left := w.temp(); left != "" {
						t.Errorf("%s is left", left)
					}
					if got, known := w.s.Placed(post); got != (want == new) || !known {
						t.Errorf("placed: %v, known: %v", got, known)
					}
				})
			}
		}
	}
}

// killed is a save that ends after a stage of it.
func (w *world) killed(stage, text string) model.Stamp {
	w.t.Helper()
	s := w.stage(text)
	name := s.temp.Name
	if stage != "filled" {
		w.ok(s.replace())
	}
	if stage == "exchanged" { // it was killed before it knew what it had displaced
		w.ok(s.temp.dir.Rename(s.temp.Name, s.temp.dir, name))
	}
	return s.Stamp()
}

// sweep is what a scan of the vault does. The vault has no folders but hidden ones.
func (w *world) sweep() {
	w.t.Helper()
	root, err := w.folder.OpenRoot()
	w.ok(err)
	defer root.Close()
	names, err := root.Names(-1)
	w.ok(err)
	sweep := w.s.Sweep()
	var entries []model.SourceEntry
	for _, name := range names {
		if folder.IsTemp(name) {
			sweep.Found(root, "", name)
		} else if e, ok := folder.Describe(root, "", name); ok {
			entries = append(entries, e)
		}
	}
	sweep.Finish(entries)
}

// temp is the path of the temp file that is there, "" if there is none.
func (w *world) temp() string {
	w.t.Helper()
	for _, dir := range []string{w.dir, w.o.Folder} {
		names, err := filepath.Glob(filepath.Join(dir, folder.TempPrefix+"*"))
		w.ok(err)
		if dir != "" && len(names) > 0 {
			return names[0]
		}
	}
	return ""
}

// truncateTo makes a file hold what a power cut leaves of it.
func (w *world) truncateTo(name string, lose func([]byte) []byte) {
	w.t.Helper()
	info, err := os.Stat(name)
	w.ok(err)
	data, err := os.ReadFile(name)
	w.ok(err)
	if left := lose(data); !bytes.Equal(left, data) {
		w.ok(os.WriteFile(name, left, info.Mode()))
		w.ok(os.Chtimes(name, info.ModTime(), info.ModTime()))
	}
}

// Two saves, one after the other, that a power cut has torn: the newest file that is whole has
// the name then.
func TestTwoTornSaves(t *testing.T) {
	for world, newWorld := range worlds {
		t.Run(world, func(t *testing.T) {
			w := newWorld(t, "old\n")
			w.killed("exchanged", "new\n")
			first := w.temp()
			w.killed("exchanged", "newer\n")
			nothing := func([]byte) []byte { return nil }
			for _, dir := range []string{w.dir, w.o.Folder} {
				names, err := filepath.Glob(filepath.Join(dir, folder.TempPrefix+"*"))
				w.ok(err)
				for _, name := range names {
					if dir != "" && name != first { // the first new file, which the second one has displaced
						w.truncateTo(name, nothing)
					}
				}
			}
			w.truncateTo(filepath.Join(w.dir, "N.md"), nothing)
			w.start(w.dir)
			w.sweep()
			w.swept("N.md", "old\n")
		})
	}
}

// A kill while a temp file is filled leaves nothing to anybody.
func TestHalfMadeTemp(t *testing.T) {
	for world, newWorld := range worlds {
		for _, text := range []string{"", "new\n"} {
			t.Run(world+"/"+text, func(t *testing.T) {
				w := newWorld(t, "old\n")
				s := w.stage("new\n")
				w.ok(os.WriteFile(w.temp(), []byte(text), 0o644)) // at another time
				w.start(w.dir)
				w.sweep()
				w.swept("N.md", "old\n")
				if placed, known := w.s.Placed(s.Stamp()); placed || !known {
					t.Errorf("placed: %v, known: %v", placed, known)
				}
			})
		}
	}
}

// swept fails the test unless the vault holds that note alone.
func (w *world) swept(name, text string) {
	w.t.Helper()
	if got, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(got) != text {
		w.t.Errorf("%s has %q, %v, want %q", name, got, err, text)
	}
	if left := w.temp(); left != "" {
		w.t.Errorf("%s is left", left)
	}
	if _, err := os.Stat(filepath.Join(w.dir, folder.Trash)); err == nil {
		w.t.Error("there is something in the trash")
	}
}
