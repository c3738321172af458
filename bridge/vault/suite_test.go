package vault_test

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/need"
)

// sourceSubject is an empty source for runSource, and a user who changes it.
type sourceSubject struct {
	Source suiteSource
	Person suitePerson
}

type suiteSource interface {
	model.Source
	model.Structure
	model.Files
}

// suitePerson changes a source from outside, as a user's programs do. Its methods fail the test on an error.
type suitePerson interface {
	Save(rel, text string) // creates missing folders
	Mkdir(rel string)
	Rename(oldRel, newRel string)
	Remove(rel string) // also removes everything in the folder
	Content(rel string) string
}

// runSource runs the suite that every source must pass. Package bridge depends on the behaviour that the suite tests.
func runSource(t *testing.T, open func(t *testing.T) sourceSubject) {
	tests := []struct {
		name string
		test func(*testing.T, sourceSubject)
	}{
		{"Scan", testScan},
		{"ReadMissing", testReadMissing},
		{"ReadReplace", testReadReplace},
		{"ReplaceConflict", testReplaceConflict},
		{"ReplaceKeepsBytes", testReplaceKeepsBytes},
		{"Create", testCreate},
		{"Mkdir", testMkdir},
		{"Rename", testSourceRename},
		{"Remove", testRemove},
		{"OpenFile", testOpenFile},
		{"RunReports", testRunReports},
		{"RunKeepsQuiet", testRunKeepsQuiet},
		{"RunEnds", testRunEnds},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(t, open(t))
		})
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, s suiteSource, rel string) (string, model.Stamp) {
	t.Helper()
	data, stamp, err := s.Read(t.Context(), rel)
	noError(t, err)
	return string(data), stamp
}

func scan(t testing.TB, s suiteSource) []model.SourceEntry {
	t.Helper()
	var entries []model.SourceEntry
	noError(t, s.Scan(t.Context(), func(e model.SourceEntry) { entries = append(entries, e) }))
	return entries
}

func testScan(t *testing.T, sub sourceSubject) {
	sub.Person.Save("a/b/Note.md", "text")
	sub.Person.Save("Top.md", "top")
	sub.Person.Mkdir("empty")
	seen := make(map[string]model.SourceEntry)
	for _, e := range scan(t, sub.Source) {
		if dir := model.Path(e.Rel).Dir(); dir != "" && !seen[string(dir)].Dir {
			t.Errorf("%q is reported before its folder", e.Rel)
		}
		seen[e.Rel] = e
	}
	for rel, dir := range map[string]bool{"a": true, "a/b": true, "a/b/Note.md": false, "Top.md": false, "empty": true} {
		if e, ok := seen[rel]; !ok || e.Dir != dir {
			t.Errorf("%q: found %v, as folder %v; want folder %v", rel, ok, e.Dir, dir)
		}
	}
	if len(seen) != 5 {
		t.Errorf("scan found %d entries, want 5: %v", len(seen), seen)
	}
	_, stamp := read(t, sub.Source, "Top.md")
	if got := seen["Top.md"].Stamp; got != stamp || got.Size != 3 {
		t.Errorf("scan has stamp %+v, read has %+v", got, stamp)
	}
}

func testReadMissing(t *testing.T, sub sourceSubject) {
	sub.Person.Mkdir("dir")
	scan(t, sub.Source)
	_, _, err := sub.Source.Read(t.Context(), "No.md")
	wantError(t, "read of nothing", err, fs.ErrNotExist)
	_, _, err = sub.Source.Read(t.Context(), "dir")
	wantError(t, "read of a folder", err, model.ErrIsDir)
}

func testReadReplace(t *testing.T, sub sourceSubject) {
	sub.Person.Save("N.md", "one")
	_, stamp := read(t, sub.Source, "N.md")
	when := time.Date(2025, 1, 2, 3, 4, 5, 678901234, time.UTC)
	next := must(sub.Source.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("two"), ModTime: when}))(t)
	text, stamp := read(t, sub.Source, "N.md")
	if text != "two" || stamp != next {
		t.Errorf("read %q with %+v, want %q with %+v", text, stamp, "two", next)
	}
	if stamp.ModTime != when.UnixNano() || stamp.Size != 3 {
		t.Errorf("stamp %+v, want modification time %d and size 3", stamp, when.UnixNano())
	}
	if got := sub.Person.Content("N.md"); got != "two" {
		t.Errorf("person sees %q, want %q", got, "two")
	}
}

func testReplaceConflict(t *testing.T, sub sourceSubject) {
	sub.Person.Save("N.md", "one")
	_, stamp := read(t, sub.Source, "N.md")
	sub.Person.Save("N.md", "hers")
	_, err := sub.Source.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("ours"), ModTime: time.Now()})
	wantError(t, "replace over a save", err, model.ErrConflict)
	if got := sub.Person.Content("N.md"); got != "hers" {
		t.Errorf("after a conflict the file holds %q, want %q", got, "hers")
	}
	_, stamp = read(t, sub.Source, "N.md")
	sub.Person.Remove("N.md")
	_, err = sub.Source.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte("ours"), ModTime: time.Now()})
	wantError(t, "replace of what is gone", err, model.ErrConflict)
	_, err = sub.Source.Replace(t.Context(), "N.md", model.Replacement{IfMatch: model.Stamp{}, Data: []byte("ours"), ModTime: time.Now()})
	wantError(t, "replace with the zero stamp", err, model.ErrConflict)
}

func testReplaceKeepsBytes(t *testing.T, sub sourceSubject) {
	sub.Person.Save("N.md", "")
	for _, text := range []string{"\ufeffBOM\r\nCRLF\r\n", "no final newline", "\xff\xfe not UTF-8 \x00", ""} {
		_, stamp := read(t, sub.Source, "N.md")
		must(sub.Source.Replace(t.Context(), "N.md", model.Replacement{IfMatch: stamp, Data: []byte(text), ModTime: time.Now()}))(t)
		if got := sub.Person.Content("N.md"); got != text {
			t.Errorf("file holds %q, want %q", got, text)
		}
	}
}

func testCreate(t *testing.T, sub sourceSubject) {
	when := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	stamp := must(sub.Source.Create(t.Context(), "x/y/New.md", model.NewFile{Data: []byte("new"), Mode: 0o640, ModTime: when}))(t)
	text, got := read(t, sub.Source, "x/y/New.md")
	if text != "new" || got != stamp || got.ModTime != when.UnixNano() {
		t.Errorf("read %q with %+v, want %q with %+v", text, got, "new", stamp)
	}
	for _, e := range scan(t, sub.Source) {
		if e.Rel == "x/y/New.md" && e.Mode != 0o640 {
			t.Errorf("mode %v, want 0640", e.Mode)
		}
	}
	_, err := sub.Source.Create(t.Context(), "x/y/New.md", model.NewFile{Data: []byte("again"), Mode: 0o644, ModTime: when})
	wantError(t, "create over a file", err, fs.ErrExist)
	_, err = sub.Source.Create(t.Context(), "x/y", model.NewFile{Data: []byte("again"), Mode: 0o644, ModTime: when})
	wantError(t, "create over a folder", err, fs.ErrExist)
	if got := sub.Person.Content("x/y/New.md"); got != "new" {
		t.Errorf("file holds %q, want %q", got, "new")
	}
}

func testMkdir(t *testing.T, sub sourceSubject) {
	noError(t, sub.Source.Mkdir(t.Context(), "dir"))
	wantError(t, "mkdir again", sub.Source.Mkdir(t.Context(), "dir"), fs.ErrExist)
	wantError(t, "mkdir without a parent", sub.Source.Mkdir(t.Context(), "no/dir"), fs.ErrNotExist)
	if got := scan(t, sub.Source); len(got) != 1 || !got[0].Dir {
		t.Errorf("scan found %v, want one folder", got)
	}
}

func testSourceRename(t *testing.T, sub sourceSubject) {
	for rel, text := range map[string]string{"a/One.md": "1", "Two.md": "2", "b/Three.md": "3"} {
		sub.Person.Save(rel, text)
	}
	scan(t, sub.Source)
	ctx, s := t.Context(), sub.Source
	noError(t, s.Rename(ctx, "a/One.md", "b/Uno.md", false))
	wantError(t, "rename over a file", s.Rename(ctx, "b/Uno.md", "Two.md", false), fs.ErrExist)
	noError(t, s.Rename(ctx, "b/Uno.md", "Two.md", true))
	if got := sub.Person.Content("Two.md"); got != "1" {
		t.Errorf("replaced file holds %q, want %q", got, "1")
	}
	if err := s.Rename(ctx, "Two.md", "a", true); err == nil {
		t.Error("a file replaced a folder")
	}
	wantError(t, "rename of a folder over a folder", s.Rename(ctx, "b", "a", true), fs.ErrExist)
	noError(t, s.Rename(ctx, "b", "a/c", false))
	if got := sub.Person.Content("a/c/Three.md"); got != "3" {
		t.Errorf("moved folder holds %q, want %q", got, "3")
	}
	wantError(t, "rename of nothing", s.Rename(ctx, "no.md", "x.md", false), fs.ErrNotExist)
	_, stamp := read(t, s, "a/c/Three.md")
	must(s.Replace(ctx, "a/c/Three.md", model.Replacement{IfMatch: stamp, Data: []byte("drei"), ModTime: time.Now()}))(t)
}

func testRemove(t *testing.T, sub sourceSubject) {
	sub.Person.Save("dir/N.md", "text")
	scan(t, sub.Source)
	ctx := t.Context()
	wantError(t, "remove of a full folder", sub.Source.Remove(ctx, "dir"), model.ErrNotEmpty)
	noError(t, sub.Source.Remove(ctx, "dir/N.md"))
	_, _, err := sub.Source.Read(ctx, "dir/N.md")
	wantError(t, "read of what was removed", err, fs.ErrNotExist)
	wantError(t, "remove again", sub.Source.Remove(ctx, "dir/N.md"), fs.ErrNotExist)
	noError(t, sub.Source.Remove(ctx, "dir"))
}

func testOpenFile(t *testing.T, sub sourceSubject) {
	f := must(sub.Source.OpenFile("pic.png", os.O_RDWR|os.O_CREATE, 0o600))(t)
	must(f.WriteAt([]byte("0123456789"), 0))(t)
	must(f.WriteAt([]byte("xx"), 4))(t)
	noError(t, f.Truncate(8))
	noError(t, f.Sync())
	buf := make([]byte, 4)
	if n, err := f.ReadAt(buf, 2); n != 4 || err != nil || string(buf) != "23xx" {
		t.Errorf("read %q, %v, want %q", buf[:n], err, "23xx")
	}
	if info := must(f.Stat())(t); info.Size() != 8 {
		t.Errorf("size %d, want 8", info.Size())
	}
	noError(t, f.Close())
	if got := sub.Person.Content("pic.png"); got != "0123xx67" {
		t.Errorf("file holds %q, want %q", got, "0123xx67")
	}
	_, err := sub.Source.OpenFile("no.png", os.O_RDONLY, 0)
	wantError(t, "open of nothing", err, fs.ErrNotExist)
	_, err = sub.Source.OpenFile("pic.png", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	wantError(t, "exclusive create of what is there", err, fs.ErrExist)
}

// sendTo returns a receiver that takes each change and sends it to events.
func sendTo(events chan<- model.SourceEvent) func(model.SourceEvent) {
	return func(ev model.SourceEvent) {
		ok := true
		if ev.Next != nil {
			ev, ok = ev.Next()
		}
		if ok {
			events <- ev
		}
	}
}

// follow scans the source, runs it until the end of the test, and returns the events.
func follow(t testing.TB, s model.Source) <-chan model.SourceEvent {
	t.Helper()
	noError(t, s.Scan(t.Context(), func(model.SourceEntry) {}))
	events := make(chan model.SourceEvent, 100000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx, sendTo(events)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	return events
}

// await returns the events up to the first event that want accepts. It fails the test if there is no such event.
func await(t testing.TB, events <-chan model.SourceEvent, what string, want func(model.SourceEvent) bool) []model.SourceEvent {
	t.Helper()
	limit := time.After(need.Scaled(20 * time.Second))
	var seen []model.SourceEvent
	for {
		select {
		case ev := <-events:
			seen = append(seen, ev)
			if want(ev) {
				return seen
			}
		case <-limit:
			t.Fatalf("no event for %s; seen: %+v", what, seen)
		}
	}
}

// is returns a function that accepts an event by its kind and path.
func is(kind model.EventKind, rel string) func(model.SourceEvent) bool {
	return func(ev model.SourceEvent) bool { return ev.Kind == kind && ev.Rel == rel }
}

func testRunReports(t *testing.T, sub sourceSubject) {
	sub.Person.Save("N.md", "one")
	sub.Person.Save("dir/M.md", "m")
	events := follow(t, sub.Source)

	sub.Person.Save("N.md", "one and two")
	seen := await(t, events, "a save", is(model.EventChanged, "N.md"))
	_, stamp := read(t, sub.Source, "N.md")
	if got := seen[len(seen)-1].Entry.Stamp; got != stamp {
		t.Errorf("event has stamp %+v, read has %+v", got, stamp)
	}
	sub.Person.Save("sub/New.md", "new")
	seen = await(t, events, "a new note", is(model.EventCreated, "sub/New.md"))
	if !slices.ContainsFunc(seen, is(model.EventCreated, "sub")) {
		t.Error("the new folder is not reported before the note in it")
	}
	sub.Person.Rename("N.md", "sub/Renamed.md")
	seen = await(t, events, "a rename", is(model.EventRenamed, "sub/Renamed.md"))
	if got := seen[len(seen)-1].OldRel; got != "N.md" {
		t.Errorf("renamed from %q, want %q", got, "N.md")
	}
	sub.Person.Rename("dir", "folder")
	await(t, events, "a folder's rename", is(model.EventRenamed, "folder"))
	sub.Person.Save("folder/M.md", "mm")
	await(t, events, "a save in it", is(model.EventChanged, "folder/M.md"))
	sub.Person.Remove("folder")
	seen = await(t, events, "a removal", is(model.EventRemoved, "folder"))
	if !slices.ContainsFunc(seen, is(model.EventRemoved, "folder/M.md")) {
		t.Error("the note is not reported removed before its folder")
	}
}

// testRunKeepsQuiet changes the source through its methods, and then as a user. The first event must report the user's
// change.
func testRunKeepsQuiet(t *testing.T, sub sourceSubject) {
	sub.Person.Save("N.md", "one")
	sub.Person.Save("mark.md", "1")
	events := follow(t, sub.Source)
	ctx, s := t.Context(), sub.Source
	_, stamp := read(t, s, "N.md")
	for range 5 {
		stamp = must(s.Replace(ctx, "N.md", model.Replacement{IfMatch: stamp, Data: []byte(time.Now().String()), ModTime: time.Now()}))(t)
	}
	must(s.Create(ctx, "d/e/New.md", model.NewFile{Data: []byte("x"), Mode: 0o644, ModTime: time.Now()}))(t)
	noError(t, s.Mkdir(ctx, "f"))
	noError(t, s.Rename(ctx, "d/e/New.md", "f/New.md", false))
	noError(t, s.Rename(ctx, "f", "g", false))
	noError(t, s.Remove(ctx, "d/e"))
	noError(t, s.Remove(ctx, "g/New.md"))
	sub.Person.Save("mark.md", "22")
	seen := await(t, events, "the person's save", is(model.EventChanged, "mark.md"))
	if len(seen) != 1 {
		t.Errorf("own changes are reported: %+v", seen[:len(seen)-1])
	}
}

func testRunEnds(t *testing.T, sub sourceSubject) {
	scan(t, sub.Source)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := sub.Source.Run(ctx, func(model.SourceEvent) {}); err != nil {
		t.Errorf("run ended with %v, want nil", err)
	}
}
