package filereplace

import (
	"bytes"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge/disk/disktest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// A power cut leaves names and bytes in any state that they had since they were last synced. At each of them the next scan
// leaves the old note or the new one, whole, and nothing else.
func TestTornSaves(t *testing.T) {
	t.Parallel()
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
					t.Parallel()
					w := newWorld(t, old)
					save := w.killed(stage, new)
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
					if got, ok := w.s.Renamed(save); got != (want == new) || !ok {
						t.Errorf("placed: %v, known: %v", got, ok)
					}
				})
			}
		}
	}
}

// killed is a save that ends after a stage of it.
func (w *world) killed(stage, text string) model.Save {
	w.t.Helper()
	s := w.stage(text)
	name := s.temp.Name
	if stage != "filled" {
		w.ok(s.replace())
	}
	if stage == "exchanged" { // it was killed before it knew what it had displaced
		w.ok(s.temp.dir.Rename(s.temp.Name, s.temp.dir, name))
	}
	return s.save()
}

func (sw *Swap) save() model.Save { return model.Save{Pre: sw.r.IfMatch, Post: sw.Stamp()} }

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
		if vaultdir.IsTemp(name) {
			sweep.Add(root, "", name)
		} else if e, ok := vaultdir.Describe(root, "", name); ok {
			entries = append(entries, e)
		}
	}
	sweep.Finish(slices.Values(entries))
}

// temp is the path of the temp file that is there, "" if there is none.
func (w *world) temp() string {
	w.t.Helper()
	for _, dir := range []string{w.dir, w.o.Folder} {
		names, err := filepath.Glob(filepath.Join(dir, vaultdir.TempPrefix+"*"))
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

// Two saves, one after the other, that a power cut has torn: the newest file that is whole has the name then.
func TestTwoTornSaves(t *testing.T) {
	t.Parallel()
	for world, newWorld := range worlds {
		t.Run(world, func(t *testing.T) {
			w := newWorld(t, "old\n")
			w.killed("exchanged", "new\n")
			first := w.temp()
			w.killed("exchanged", "newer\n")
			nothing := func([]byte) []byte { return nil }
			for _, dir := range []string{w.dir, w.o.Folder} {
				names, err := filepath.Glob(filepath.Join(dir, vaultdir.TempPrefix+"*"))
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

// A note that somebody has renamed right after a save: if it is whole, nothing is left of its pre-image, and else
// what it held is in the trash. Another note has the time of that save.
func TestRenamedAfterSave(t *testing.T) {
	for world, newWorld := range worlds {
		for _, torn := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/torn: %v", world, torn), func(t *testing.T) {
				w := newWorld(t, "old\n")
				save := w.killed("exchanged", "new\n")
				w.ok(os.Rename(filepath.Join(w.dir, "N.md"), filepath.Join(w.dir, "Other.md")))
				w.save("Same.md", "same\n")
				at := time.Unix(0, save.Post.ModTime)
				w.ok(os.Chtimes(filepath.Join(w.dir, "Same.md"), at, at))
				if torn {
					w.truncateTo(filepath.Join(w.dir, "Other.md"), func([]byte) []byte { return nil })
				}
				w.start(w.dir)
				w.sweep()
				if placed, ok := w.s.Renamed(save); !placed || !ok {
					t.Errorf("placed: %v, known: %v", placed, ok)
				}
				w.holds("Same.md", "same\n")
				if !torn {
					w.swept("Other.md", "new\n")
				} else {
					w.holds("Other.md", "")
					w.holds(".trash/relayfs recovered.md", "old\n")
				}
			})
		}
	}
}

// What a user moves to the place of a note that a power cut has torn elsewhere does not cost the note.
func TestReplacedAfterSave(t *testing.T) {
	w := newWorld(t, "old\n")
	w.killed("exchanged", "new\n")
	w.ok(os.Rename(filepath.Join(w.dir, "N.md"), filepath.Join(w.dir, "Other.md")))
	w.truncateTo(filepath.Join(w.dir, "Other.md"), func([]byte) []byte { return nil })
	w.save("N.md", "theirs\n")
	w.start(w.dir)
	w.sweep()
	w.holds("N.md", "theirs\n")
	w.holds(".trash/relayfs recovered.md", "old\n")
}

// Of two notes that are saved at one time the file of one has not been made: nothing is known of that one.
func TestPlacedAtOneTime(t *testing.T) {
	w := newWorld(t, "old\n")
	save := w.killed("exchanged", "new\n")
	w.start(w.dir)
	w.sweep()
	w.swept("N.md", "new\n")
	if placed, ok := w.s.Renamed(save); !placed || !ok {
		t.Errorf("placed: %v, known: %v", placed, ok)
	}
	save.Pre.Inode, save.Post.Inode = save.Pre.Inode+100, save.Post.Inode+100
	if _, ok := w.s.Renamed(save); ok {
		t.Error("it is known where the file of another note is")
	}
}

// A note that somebody renames before its save has settled is on the disk before its pre-image is gone.
func TestRenamedBeforeSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t}
		d := disktest.New(nil, disktest.Volume{Path: "/", OrdersNames: true})
		dir, err := d.MakeRoot("/vault")
		w.ok(err)
		w.ok(d.Person().Save("/vault/N.md", "old\n"))
		w.folder, err = vaultdir.Open(d, "/vault")
		w.ok(err)
		w.s = New(Options{Vault: w.folder, Log: slog.New(slog.DiscardHandler), Syncs: new(vaultdir.Syncs)})
		w.s.syncer.last = time.Now() // so that it waits
		s := w.stage("new\n")
		_, err = s.Commit()
		w.ok(err)
		s.Close()
		w.ok(dir.Rename("N.md", dir, "Other.md"))
		w.s.Close()
		for cut := range d.PowerCuts(100) {
			if files := slices.Collect(maps.Values(cut.Person().Files("/vault"))); !slices.Equal(files, []string{"new\n"}) && !slices.Contains(files, "old\n") {
				t.Errorf("a power cut leaves %q", files)
			}
		}
	})
}

// Wherever the sweep is killed that puts back the pre-image of a torn save, nobody takes that save for whole because a later
// one is known not to have been made.
func TestSweepOfTwoSavesIsKilled(t *testing.T) {
	w := &world{t: t}
	d := disktest.New(nil, disktest.Volume{Path: "/", OrdersNames: true})
	dir, err := d.MakeRoot("/vault")
	w.ok(err)
	w.ok(d.Person().Save("/vault/N.md", "old\n"))
	w.ok(dir.Sync())
	w.sweepOn(d)
	w.s.syncer.last = time.Now().Add(time.Hour) // so that it waits
	first := w.stage("first\n")
	save := first.save()
	_, err = first.Commit()
	w.ok(err)
	second := w.stage("second\n").save()
	torn := 0
	for cut := range d.PowerCuts(1000) {
		files := cut.Person().Files("/vault")
		if text := files["/vault/N.md"]; len(files) != 3 || text == "old\n" || text == "first\n" {
			continue
		}
		torn++
		for n, over := len(cut.Calls())+1, false; !over; n++ {
			killed := cut.Killed()
			killed.Kill(n)
			w.sweepOn(killed)
			over = len(killed.Calls()) < n
			w.sweepOn(killed.Killed())
			placed, ok := w.s.Renamed(save)
			if later, knownLater := w.s.Renamed(second); placed || !ok && knownLater && !later {
				t.Errorf("killed before %v: placed %v, known %v", killed.Calls()[len(killed.Calls())-1], placed, ok)
			}
		}
	}
	if torn == 0 {
		t.Error("no power cut has torn the note")
	}
}

// sweepOn starts on a disk, and sweeps it.
func (w *world) sweepOn(d *disktest.Disk) {
	w.t.Helper()
	var err error
	w.folder, err = vaultdir.Open(d, "/vault")
	w.ok(err)
	log := slog.New(slog.DiscardHandler)
	w.s = New(Options{Vault: w.folder, Log: log, Syncs: &vaultdir.Syncs{Log: log}})
	root, err := w.folder.OpenRoot()
	w.ok(err)
	defer root.Close()
	names, err := root.Names(-1)
	w.ok(err)
	sweep := w.s.Sweep()
	for _, name := range names {
		if vaultdir.IsTemp(name) {
			sweep.Add(root, "", name)
		}
	}
	e, err := w.folder.Stat("N.md")
	w.ok(err)
	sweep.Finish(slices.Values([]model.SourceEntry{e}))
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
				if placed, ok := w.s.Renamed(s.save()); placed || !ok {
					t.Errorf("placed: %v, known: %v", placed, ok)
				}
			})
		}
	}
}

// A power cut tears a new file that was to have the time of the old one, before it has the name: the old one stays.
func TestTornAtTimeOfPreImage(t *testing.T) {
	for world, newWorld := range worlds {
		t.Run(world, func(t *testing.T) {
			w := newWorld(t, "old\n")
			info, err := os.Stat(filepath.Join(w.dir, "N.md"))
			w.ok(err)
			w.stageAt("new\n", info.ModTime())
			w.ok(os.WriteFile(w.temp(), []byte("n"), 0o644)) // at another time
			w.start(w.dir)
			w.sweep()
			w.holds("N.md", "old\n")
			w.holds(".trash/relayfs recovered.md", "n")
			if left := w.temp(); left != "" {
				t.Errorf("%s is left", left)
			}
		})
	}
}

// holds fails the test unless the vault has the file.
func (w *world) holds(name, text string) {
	w.t.Helper()
	if got, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(got) != text {
		w.t.Errorf("%s has %q, %v, want %q", name, got, err, text)
	}
}

// swept fails the test unless the vault has the note, and nothing is left of a save.
func (w *world) swept(name, text string) {
	w.t.Helper()
	w.holds(name, text)
	if left := w.temp(); left != "" {
		w.t.Errorf("%s is left", left)
	}
	if _, err := os.Stat(filepath.Join(w.dir, vaultdir.Trash)); err == nil {
		w.t.Error("there is something in the trash")
	}
}
