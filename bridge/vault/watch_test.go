package vault_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/tests/need"
)

// TestSavesOfEditors wants each way of saving to be one EventChanged, soon. Of a save that a
// busy machine has stretched over the time in which a name may be missing, it may be more.
func TestSavesOfEditors(t *testing.T) {
	t.Parallel()
	vim := func(path, old, line string) error {
		if err := os.Rename(path, path+"~"); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(old+line), 0o644); err != nil {
			return err
		}
		return os.Remove(path + "~")
	}
	for name, save := range map[string]save{"in place": saveInPlace, "by rename": saveByRename, "append": saveByAppend, "vim": vim} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, p := open(t, vault.Options{})
			p.Save("N.md", "text\n")
			p.Save("end.md", "")
			events := follow(t, v)
			stretched := false // a save so far
			for i := range 3 {
				start := time.Now()
				old := p.Content("N.md")
				started := time.Now()
				p.check(save(p.path("N.md"), old, fmt.Sprintf("line %d\n", i)))
				stretched = stretched || time.Since(started) > 40*time.Millisecond
				seen := await(t, events, "a save", func(ev model.SourceEvent) bool {
					return ev.Rel == "N.md" && (ev.Kind == model.EventChanged || stretched && ev.Kind == model.EventCreated)
				})
				if took := time.Since(start); took > need.Scaled(time.Second) {
					t.Errorf("reported after %v", took)
				}
				if len(seen) != 1 && !stretched {
					t.Errorf("events %+v, want one", seen)
				}
			}
			p.Save("end.md", "end")
			if seen := await(t, events, "the end", is(model.EventChanged, "end.md")); len(seen) != 1 && !stretched {
				t.Errorf("events %+v, want one", seen)
			}
		})
	}
}

// TestChangesBeforeRun changes files between Scan and Run.
func TestChangesBeforeRun(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("a/b/Changed.md", "1")
	p.Save("a/Gone.md", "1")
	scanned(t, v)
	p.Save("a/b/Changed.md", "22")
	p.Save("c/d/e/New.md", "1")
	p.Remove("a/Gone.md")
	got := runUntilThree(t, v)
	for _, want := range []string{"changed a/b/Changed.md", "created c/d/e/New.md", "removed a/Gone.md"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not reported: %q", want, got)
		}
	}
}

// runUntilThree runs the vault until three notes were reported.
func runUntilThree(t *testing.T, v *vault.Vault) []string {
	t.Helper()
	events := make(chan model.SourceEvent, 100)
	go v.Run(t.Context(), sendTo(events))
	var got []string
	notes := 0
	await(t, events, "three notes", func(ev model.SourceEvent) bool {
		got = append(got, fmt.Sprint(ev.Kind, " ", ev.Rel))
		if strings.HasSuffix(ev.Rel, ".md") {
			notes++
		}
		return notes == 3
	})
	return got
}

// A change is reported by the present name if relayfs renames the folder or the file before it handles the report.
func TestReportAfterOwnRename(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		change     func(p person)
		from, to   string // the rename by relayfs
		kind       model.EventKind
		oldRel, at string
	}{
		{"save", func(p person) { p.Save("one/N.md", "22") }, "one", "three", model.EventChanged, "", "three/N.md"},
		{"save of the renamed note", func(p person) { p.Save("one/N.md", "22") }, "one/N.md", "one/O.md", model.EventChanged, "", "one/O.md"},
		{"new note", func(p person) { p.Save("one/New.md", "1") }, "one", "three", model.EventCreated, "", "three/New.md"},
		{"new folder", func(p person) { p.Mkdir("one/sub") }, "one", "three", model.EventCreated, "", "three/sub"},
		{"removal", func(p person) { p.Remove("one/N.md") }, "one", "three", model.EventRemoved, "", "three/N.md"},
		{"removal of a folder", func(p person) { p.Remove("one/two") }, "one", "three", model.EventRemoved, "", "three/two"},
		{"rename", func(p person) { p.Rename("one/N.md", "one/M.md") }, "one", "three", model.EventRenamed, "three/N.md", "three/M.md"},
		{"rename into the folder", func(p person) { p.Rename("P.md", "one/P.md") }, "one", "three", model.EventRenamed, "P.md", "three/P.md"},
		{"rename out of the folder", func(p person) { p.Rename("one/N.md", "M.md") }, "one", "three", model.EventRenamed, "three/N.md", "M.md"},
	} {
		for _, watches := range []int{0, -1} {
			t.Run(fmt.Sprintf("%s, watches %d", tt.name, watches), func(t *testing.T) {
				t.Parallel()
				v, p := open(t, vault.Options{MaxWatches: watches})
				p.Save("one/N.md", "1")
				p.Save("one/two/O.md", "2")
				p.Save("P.md", "3")
				scanned(t, v)
				events := make(chan model.SourceEvent, 100)
				var once sync.Once
				go v.Run(t.Context(), func(ev model.SourceEvent) {
					once.Do(func() { p.check(v.Rename(t.Context(), tt.from, tt.to, false)) })
					sendTo(events)(ev)
				})
				tt.change(p)
				await(t, events, tt.name, func(ev model.SourceEvent) bool {
					return ev.Kind == tt.kind && ev.OldRel == tt.oldRel && ev.Rel == tt.at
				})
			})
		}
	}
}

// TestBurst makes and changes thousands of files at once, as git checkout does.
func TestBurst(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	const folders, files = 40, 50
	p.Save("first.md", "")
	events := follow(t, v)
	for d := range folders {
		for f := range files {
			p.Save(fmt.Sprintf("d%d/sub/n%d.md", d, f), "1")
		}
	}
	created := make(map[string]int)
	await(t, events, "all files", func(ev model.SourceEvent) bool {
		if ev.Kind != model.EventCreated && ev.Kind != model.EventChanged {
			t.Errorf("event %+v", ev)
		}
		if ev.Kind == model.EventCreated {
			created[ev.Rel]++
		}
		return len(created) == folders*(files+2)
	})
	for rel, n := range created {
		if n != 1 {
			t.Errorf("%s was created %d times", rel, n)
		}
	}
	p.Remove("d7")
	await(t, events, "a removal", is(model.EventRemoved, "d7"))
}

// TestOverflow has more events than the kernel's queue takes, while the receiver of events is slow.
func TestOverflow(t *testing.T) {
	t.Parallel()
	limit, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip(err)
	}
	var n int
	fmt.Sscan(string(limit), &n)
	if n > 1<<16 {
		t.Skipf("queue of %d events is too long to fill", n)
	}
	v, p := open(t, vault.Options{})
	p.Save("a/N.md", "1")
	p.Save("hold.md", "1")
	scanned(t, v)
	hold, events := make(chan bool), make(chan model.SourceEvent, 1000)
	started := make(chan bool, 1)
	var holding sync.Once
	go v.Run(t.Context(), func(ev model.SourceEvent) {
		holding.Do(func() { // the first change is that of hold.md
			started <- true
			<-hold
		})
		sendTo(events)(ev)
	})
	p.Save("hold.md", "22")
	<-started
	f, err := os.OpenFile(p.path("a/N.md"), os.O_WRONLY, 0)
	p.check(err)
	defer f.Close()
	g, err := os.OpenFile(p.path("hold.md"), os.O_WRONLY, 0)
	p.check(err)
	defer g.Close()
	for i := range n { // two files by turns: equal events in a row are merged
		_, err = []*os.File{f, g}[i%2].WriteAt([]byte("x"), 0)
		p.check(err)
	}
	p.Save("a/lost/Note.md", "this event is lost")
	close(hold)
	await(t, events, "a note whose event was lost", is(model.EventCreated, "a/lost/Note.md"))
}

// logBuffer collects a log.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func TestWatchLimit(t *testing.T) {
	t.Parallel()
	var log logBuffer
	v, p := open(t, vault.Options{MaxWatches: 2, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for i := range 5 {
		p.Save(fmt.Sprintf("d%d/N.md", i), "1")
	}
	events := follow(t, v)
	for i := range 5 {
		p.Save(fmt.Sprintf("d%d/N.md", i), "22")
	}
	changed := make(map[string]bool)
	await(t, events, "a save in every folder", func(ev model.SourceEvent) bool {
		changed[ev.Rel] = ev.Kind == model.EventChanged
		return len(changed) == 5
	})
	p.Save("d4/new/M.md", "1")
	await(t, events, "a note in a new folder", is(model.EventCreated, "d4/new/M.md"))
	p.Remove("d3")
	await(t, events, "a removal", is(model.EventRemoved, "d3"))
	if n := strings.Count(log.String(), "fs.inotify.max_user_watches"); n != 1 {
		t.Errorf("the limit is named %d times in the log, want once:\n%s", n, log.String())
	}
}

func TestVanishedVault(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]struct{ leave, back func(dir string) error }{
		"moved": {
			func(dir string) error { return os.Rename(dir, dir+".away") },
			func(dir string) error { return os.Rename(dir+".away", dir) },
		},
		"unmounted": { // an empty mountpoint stays
			func(dir string) error { return errorsOf(os.Rename(dir, dir+".away"), os.Mkdir(dir, 0o755)) },
			func(dir string) error { return errorsOf(os.Remove(dir), os.Rename(dir+".away", dir)) },
		},
		"replaced": { // a mountpoint that has files of its own
			func(dir string) error {
				return errorsOf(os.Rename(dir, dir+".away"), os.Mkdir(dir, 0o755), os.WriteFile(dir+"/N.md", []byte("stray"), 0o644))
			},
			func(dir string) error { return errorsOf(os.RemoveAll(dir), os.Rename(dir+".away", dir)) },
		},
		"emptied": {
			func(dir string) error { return exec.Command("sh", "-c", "rm -rf "+dir+"/*").Run() },
			func(dir string) error { return os.WriteFile(dir+"/N.md", []byte("other"), 0o644) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, p := openDir(t, makeDir(t, "vault"), vault.Options{})
			p.Save("N.md", "text")
			p.Save("a/M.md", "text")
			events := follow(t, v)
			p.check(steps.leave(p.dir))
			seen := await(t, events, "the vault going offline", func(ev model.SourceEvent) bool { return ev.Kind == model.EventOffline })
			if len(seen) != 1 {
				t.Errorf("events %+v, want one", seen)
			}
			_, _, err := v.Read(t.Context(), "N.md")
			wantError(t, "read", err, model.ErrOffline)
			_, err = v.Create(t.Context(), "New.md", model.NewFile{Data: []byte("x"), Mode: 0o644, ModTime: time.Now()})
			wantError(t, "create", err, model.ErrOffline)
			wantError(t, "scan", v.Scan(t.Context(), func(model.SourceEntry) {}), model.ErrOffline)
			p.check(steps.back(p.dir))
			back := time.Now()
			seen = await(t, events, "the vault coming back", func(ev model.SourceEvent) bool { return ev.Kind == model.EventOnline })
			if d := time.Since(back); d > need.Scaled(3*time.Second) { // it is looked for every second
				t.Errorf("the vault is back after %v", d)
			}
			if len(seen) != 1 {
				t.Errorf("events %+v, want one", seen)
			}
			p.Save("N.md", "changed since")
			await(t, events, "a save after that", is(model.EventChanged, "N.md"))
			_, _, err = v.Read(t.Context(), "N.md")
			p.check(err)
		})
	}
}

func errorsOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func makeDir(t *testing.T, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLinkInThePlace moves files and folders and leaves symlinks in their places, which lead to where they are now.
func TestLinkInThePlace(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("dir/sub/N.md", "1")
	p.Save("Two.md", "22")
	events := follow(t, v)
	p.Mkdir("new")
	p.Rename("dir", "new/dir")
	p.check(os.Symlink("new/dir", p.path("dir")))
	p.Rename("Two.md", "A.md") // looked at before its old name
	p.check(os.Symlink("A.md", p.path("Two.md")))
	want := map[string]bool{"dir>new/dir": true, "Two.md>A.md": true, "dir=new/dir": true, "Two.md=A.md": true}
	for _, ev := range await(t, events, "renames and symlinks", func(ev model.SourceEvent) bool {
		delete(want, ev.OldRel+">"+ev.Rel)
		delete(want, ev.Rel+"="+ev.Entry.Link)
		return len(want) == 0
	}) {
		if ev.Kind == model.EventRemoved {
			t.Errorf("%s is told of as removed", ev.Rel)
		}
	}
	p.Save("new/dir/sub/N.md", "333")
	await(t, events, "a save in the moved folder", is(model.EventChanged, "new/dir/sub/N.md"))
	p.check(os.Remove(p.path("dir")))
	p.Rename("new/dir", "dir") // and back, to where the symlink was
	await(t, events, "the folder's way back", func(ev model.SourceEvent) bool {
		return ev.Kind == model.EventRenamed && ev.OldRel == "new/dir" && ev.Rel == "dir"
	})
	p.Save("dir/sub/N.md", "4444")
	await(t, events, "a save there", is(model.EventChanged, "dir/sub/N.md"))
}

// A process that sees such moves only much later, because the machine was busy or asleep, follows them all the same.
func TestLinkInThePlaceSeenLate(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{MaxWatches: -1})
	p.Save("dir/sub/N.md", "1")
	noError(t, v.Scan(t.Context(), func(model.SourceEntry) {}))
	var seen []string
	look := v.Follow(func(ev model.SourceEvent) {
		ev, _ = ev.Next()
		seen = append(seen, fmt.Sprint(ev.Kind, " ", ev.OldRel, " ", ev.Rel))
	})
	p.Mkdir("new")
	p.Rename("dir", "new/dir")
	p.check(os.Symlink("new/dir", p.path("dir")))
	look()
	if want := []string{"created  new", "renamed dir new/dir", "created  dir"}; !slices.Equal(seen, want) {
		t.Errorf("told of %q, want %q", seen, want)
	}
}

// TestOtherKindInThePlace puts things of other kinds instead of each other, which
// many disks give the number of what was there.
func TestOtherKindInThePlace(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("X", "1")
	events := follow(t, v)
	for i := range 4 {
		p.check(os.Remove(p.path("X")))
		p.check(os.Symlink("to", p.path("X")))
		await(t, events, "a symlink", func(ev model.SourceEvent) bool { return ev.Kind == model.EventCreated && ev.Entry.Link == "to" })
		p.check(os.Remove(p.path("X")))
		p.Mkdir("X")
		await(t, events, "a folder", func(ev model.SourceEvent) bool { return ev.Kind == model.EventCreated && ev.Entry.Dir })
		p.check(os.Remove(p.path("X")))
		p.Save("X", fmt.Sprint(i))
		await(t, events, "a file", func(ev model.SourceEvent) bool {
			return ev.Kind == model.EventCreated && !ev.Entry.Dir && ev.Entry.Link == ""
		})
	}
}

// TestMoveIntoANewFolder moves a folder from one folder into another that was made just
// before: the new one is looked into before anything tells that the old one has left.
func TestMoveIntoANewFolder(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("old/dir/N.md", "1")
	events := follow(t, v)
	for _, step := range [][2]string{{"old", "new"}, {"new", "newer"}, {"newer", "newest"}} {
		p.Mkdir(step[1])
		time.Sleep(15 * time.Millisecond) // as two commands of a shell
		p.Rename(step[0]+"/dir", step[1]+"/dir")
		for _, ev := range await(t, events, "a rename", is(model.EventRenamed, step[1]+"/dir")) {
			if ev.Kind == model.EventRemoved || ev.Kind == model.EventCreated && ev.Rel != step[1] {
				t.Errorf("%s to %s: %v %s", step[0], step[1], ev.Kind, ev.Rel)
			}
		}
	}
}

// TestRenameChains moves things again before the first move is reported, and into folders that are new themselves.
func TestRenameChains(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("dir/sub/N.md", "1")
	p.Save("Two.md", "22")
	events := follow(t, v)
	p.Rename("dir", "step")
	p.Rename("step", "final")
	p.Mkdir("new")
	p.Rename("Two.md", "new/Two.md")
	got := make(map[string]string)
	await(t, events, "both renames", func(ev model.SourceEvent) bool {
		if ev.Kind == model.EventRenamed {
			got[ev.OldRel] = ev.Rel
		}
		return len(got) == 2
	})
	if got["dir"] != "final" || got["Two.md"] != "new/Two.md" {
		t.Errorf("renames %v", got)
	}
	p.Save("final/sub/N.md", "333")
	await(t, events, "a save below the moved folder", is(model.EventChanged, "final/sub/N.md"))
	p.Rename("final/sub", "back")
	await(t, events, "a move out of it", is(model.EventRenamed, "back"))
	p.Save("back/N.md", "4444")
	await(t, events, "a save there", is(model.EventChanged, "back/N.md"))
}

// A file that a user changes right after moving it is a moved file, and then a changed one.
func TestMoveAndChange(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("A.md", "1")
	p.Save("dir/C.txt", "333")
	events := follow(t, v)
	for from, to := range map[string]string{"A.md": "B.md", "dir/C.txt": "D.txt"} {
		p.Rename(from, to)
		time.Sleep(50 * time.Millisecond)
		p.check(os.WriteFile(p.path(to), []byte("changed text"), 0o644))
		for _, ev := range await(t, events, "the move of "+from, is(model.EventRenamed, to)) {
			if ev.Kind != model.EventRenamed || ev.OldRel != from {
				t.Errorf("the move is reported as %v %s %s", ev.Kind, ev.OldRel, ev.Rel)
			}
		}
		await(t, events, "the change of "+to, is(model.EventChanged, to))
	}
}

// TestRenameOverAFile moves files over others, which are looked at before or after them, and saves the last one by rename.
func TestRenameOverAFile(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("A.md", "1")
	p.Save("B.md", "22")
	p.Save("dir/C.md", "333")
	events := follow(t, v)
	for _, step := range [][2]string{{"B.md", "A.md"}, {"A.md", "dir/C.md"}} {
		p.Rename(step[0], step[1])
		seen := await(t, events, "a rename", is(model.EventRenamed, step[1]))
		if len(seen) != 1 || seen[0].OldRel != step[0] {
			t.Errorf("%s to %s: %+v", step[0], step[1], seen)
		}
	}
	p.check(saveByRename(p.path("dir/C.md"), "22", "4444"))
	if seen := await(t, events, "a save", is(model.EventChanged, "dir/C.md")); len(seen) != 1 {
		t.Errorf("a save by rename: %+v", seen)
	}
}

// Files that exchange their names at once are moved, however many they are.
func TestExchangedNames(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	names := []string{"A.md", "dir/B.md", "C.md", "A 1.md"}
	at := make(map[string]string) // the names of the files, by their first names
	for _, rel := range names {
		p.Save(rel, rel)
		at[rel] = rel
	}
	events := follow(t, v)
	for n := 2; n <= len(names); n++ {
		p.Rename(names[0], "moving.txt")
		for i, to := range names[:n-1] {
			p.Rename(names[i+1], to)
		}
		p.Rename("moving.txt", names[n-1])
		left := n + 1 // one file is moved out of the way
		for _, ev := range await(t, events, "the renames", func(model.SourceEvent) bool { left--; return left == 0 }) {
			if ev.Kind != model.EventRenamed {
				t.Errorf("%d names: %v %s", n, ev.Kind, ev.Rel)
			}
			for first, now := range at {
				if now == ev.OldRel {
					at[first] = ev.Rel
				}
			}
		}
		for first, now := range at {
			if got := p.Content(now); got != first {
				t.Errorf("%d names: %s has %q, want %q", n, now, got, first)
			}
		}
	}
}

// A move is a rename even if its old name is checked long after its new name, as in a folder that is polled. A second
// name of a file is no move.
func TestMoveOutOfAPolledFolder(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{MaxWatches: 1})
	p.Save("Top.md", "1")
	for _, rel := range []string{"dir/A.md", "dir/B.md", "dir/sub/N.md", "dir/Twice.md"} {
		p.Save(rel, rel)
	}
	events := follow(t, v)
	for from, to := range map[string]string{"dir/A.md": "Top.md", "dir/B.md": "New.md", "dir/sub": "sub"} {
		p.Rename(from, to)
		for _, ev := range await(t, events, "a rename", is(model.EventRenamed, to)) {
			if ev.Kind != model.EventRenamed || ev.OldRel != from {
				t.Errorf("%s to %s: %v %s of %q", from, to, ev.Kind, ev.Rel, ev.OldRel)
			}
		}
	}
	p.check(os.Link(p.path("dir/Twice.md"), p.path("Twice.md")))
	await(t, events, "a second name", is(model.EventCreated, "Twice.md"))
}

// TestKindChanges puts a folder in place of a file and a file in place of a folder.
func TestKindChanges(t *testing.T) {
	v, p := open(t, vault.Options{})
	p.Save("x", "file")
	p.Save("y/N.md", "1")
	events := follow(t, v)
	p.Remove("x")
	p.Save("x/M.md", "1")
	await(t, events, "a note where a file was", is(model.EventCreated, "x/M.md"))
	p.Remove("y")
	p.Save("y", "file")
	seen := await(t, events, "a file where a folder was", is(model.EventCreated, "y"))
	if !slices.ContainsFunc(seen, is(model.EventRemoved, "y/N.md")) {
		t.Errorf("the note in the folder is not reported removed: %+v", seen)
	}
}

// TestFolderMadeAgain takes away a folder and makes it again at once: its watch must be the new folder's.
func TestFolderMadeAgain(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("dir/N.md", "1")
	events := follow(t, v)
	for i := range 5 {
		p.Remove("dir")
		p.Save("dir/N.md", strings.Repeat("x", i+2))
		await(t, events, "the note in the new folder", is(model.EventChanged, "dir/N.md"))
	}
}

func BenchmarkScan(b *testing.B) {
	v, p := open(b, vault.Options{})
	const notes = 100_000
	for i := range notes {
		dir := filepath.Join(p.dir, fmt.Sprintf("f%d", i/200))
		if i%200 == 0 {
			p.check(os.Mkdir(dir, 0o755))
		}
		p.check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("Note %d.md", i)), nil, 0o644))
	}
	for b.Loop() {
		n := 0
		p.check(v.Scan(b.Context(), func(model.SourceEntry) { n++ }))
		if n != notes+notes/200 {
			b.Fatalf("found %d entries", n)
		}
	}
}

func BenchmarkReplace(b *testing.B) {
	v, p := open(b, vault.Options{})
	p.Save("dir/sub/N.md", strings.Repeat("text\n", 2000))
	data, stamp, err := v.Read(b.Context(), "dir/sub/N.md")
	p.check(err)
	for b.Loop() {
		stamp, err = v.Replace(b.Context(), "dir/sub/N.md", model.Replacement{IfMatch: stamp, Data: data, ModTime: time.Now()})
		p.check(err)
	}
}
