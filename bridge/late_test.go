package bridge_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// gatedStore lets an author's record wait while it is shut.
type gatedStore struct {
	*bridgetest.Store
	mu     sync.Mutex
	shut   chan struct{} // nil: open
	waits  atomic.Int32
	gated  sync.WaitGroup // of those that wait, until they are appended
	lookup atomic.Bool    // DocID fails
}

func (s *gatedStore) close() (open func()) {
	gate := make(chan struct{})
	s.mu.Lock()
	s.shut = gate
	s.mu.Unlock()
	return sync.OnceFunc(func() {
		s.mu.Lock()
		s.shut = nil
		s.mu.Unlock()
		close(gate)
	})
}

func (s *gatedStore) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	s.mu.Lock()
	gate := s.shut
	s.mu.Unlock()
	if gate != nil && recs[len(recs)-1].Author == "bob" {
		s.gated.Add(1)
		defer s.gated.Done()
		s.waits.Add(1)
		<-gate
	}
	return s.Store.Append(id, p, recs...)
}

func (s *gatedStore) DocID(p model.Path) (model.DocID, error) {
	if s.lookup.Load() {
		return "", errors.New("disk error")
	}
	return s.Store.DocID(p)
}

func (s *gatedStore) waiting(t *testing.T) {
	t.Helper()
	until(t, "a record waits for the store", func() bool { return s.waits.Load() > 0 })
}

var bob = model.Author{Name: "bob", Session: "s2"}

func authorsOf(list []model.Suggestion) string {
	var out []string
	for _, s := range list {
		out = append(out, s.Author)
	}
	return strings.Join(out, " ")
}

// What a writer read before a write that the store could not keep has no identities
// that the store does not know.
func TestLateWriteThatIsNotKeptLeavesNoIdentities(t *testing.T) {
	src, store := new(bridgetest.Source), &brokenStore{Store: new(bridgetest.Store), notes: true}
	src.Person(t).Save("Plan.md", "one two three\nfour five six\n")
	ws := process(t, src, store)
	before := open(t, ws, plan)
	store.broken = true
	write(t, ws, plan, bridge.Write{Text: "one two three more\nfour five six\n", By: ann})
	ws.Kept(plan)
	store.broken, store.failed = false, false
	pendingOf(t, ws) // the store has it now
	res := write(t, ws, plan, bridge.Write{Bases: []*model.Version{before}, Text: "one two three\nfour 5 six\n", By: bob})
	if got, want := res.Version.Text(), "one two three more\nfour 5 six\n"; got != want {
		t.Errorf("merged %q, want %q", got, want)
	}
}

// The same for what a person saved while the store failed.
func TestPersonsSaveThatIsNotKeptLeavesNoIdentities(t *testing.T) {
	store := &brokenAll{Store: new(bridgetest.Store)}
	f := bridgetest.New(t, map[string]string{plan: "one two three\nfour five six\n"}, func(o *bridge.Options) { o.Folders[0].Store = store })
	open(t, f.Workspace, plan)
	store.broken.Store(true)
	mid := write(t, f.Workspace, plan, bridge.Write{Text: "one two three more\nfour five six\n", By: ann}).Version
	f.Workspace.Kept(plan)
	f.Person(plan, "typed\n"+f.SourceText(plan))
	store.broken.Store(false)
	pendingOf(t, f.Workspace)
	res := write(t, f.Workspace, plan, bridge.Write{Bases: []*model.Version{mid}, Text: "one two three more\nfour 5 six\n", By: bob})
	if got, want := res.Version.Text(), "typed\none two three more\nfour 5 six\n"; got != want {
		t.Errorf("merged %q, want %q", got, want)
	}
}

// brokenAll keeps nothing while it is broken, but notes intents.
type brokenAll struct {
	*bridgetest.Store
	broken atomic.Bool
}

func (s *brokenAll) Append(id model.DocID, p model.Path, recs ...model.Record) (uint64, error) {
	if s.broken.Load() {
		return 0, model.ErrNoSpace
	}
	return s.Store.Append(id, p, recs...)
}

// killedAfter takes so many writes and nothing more: the process is killed then.
type killedAfter struct {
	*bridgetest.Source
	left *int
}

func (s killedAfter) Replace(ctx context.Context, rel string, r model.Replacement) (model.Stamp, error) {
	if *s.left == 0 {
		return model.Stamp{}, model.ErrOffline
	}
	*s.left--
	return s.Source.Replace(ctx, rel, r)
}

// A write into an empty note that the store could not keep, and then another one that
// is interrupted: each is its writer's.
func TestInterruptedAfterAFailedKeepOfAnEmptyNote(t *testing.T) {
	src, store := new(bridgetest.Source), &brokenAll{Store: new(bridgetest.Store)}
	src.Person(t).Save("Plan.md", "")
	left := 2
	ws := process(t, killedAfter{src, &left}, store)
	store.broken.Store(true)
	write(t, ws, plan, bridge.Write{Text: "one\n", By: ann})
	ws.Kept(plan)
	_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one\n\ntwo\n", By: bob})
	t.Logf("second write: %v; file %q", err, src.Person(t).Content("Plan.md"))
	store.broken.Store(false)
	for _, s := range pendingOf(t, process(t, src, store)) {
		if want := map[bool]string{true: "ann", false: "bob"}[strings.Contains(s.New, "one")]; s.Author != want {
			t.Errorf("%q is %q's, want %q", s.New, s.Author, want)
		}
	}
}

// A note is renamed before the store has the record of a write.
func TestRenameAfterAFailedKeep(t *testing.T) {
	const moved = "Notes/Moved.md"
	for name, rename := range map[string]func(f *bridgetest.Fixture){
		"a person": func(f *bridgetest.Fixture) { f.Rename(plan, moved) },
		"a program": func(f *bridgetest.Fixture) {
			if _, err := f.Workspace.Rename(t.Context(), plan, moved, bridge.Restructure{By: ann}); err != nil {
				t.Fatal(err)
			}
		},
	} {
		store := &brokenAll{Store: new(bridgetest.Store)}
		f := bridgetest.New(t, map[string]string{plan: "one\n"}, func(o *bridge.Options) {
			o.Folders[0].Store, o.Structure = store, bridge.StructureDirect
		})
		store.broken.Store(true)
		write(t, f.Workspace, plan, bridge.Write{Text: "one two\n", By: ann})
		f.Workspace.Kept(plan)
		rename(f)
		store.broken.Store(false)
		if got := authorsOf(pendingOf(t, f.Workspace)); got != "ann" {
			t.Errorf("renamed by %s: authors %q", name, got)
		}
		if got := authorsOf(pendingOf(t, process(t, f.Source("Notes"), store))); got != "ann" {
			t.Errorf("renamed by %s: authors for the next process %q", name, got)
		}
	}
}

// A note that another one is moved over takes nothing from that when its record comes late.
func TestMovedOverALateWrite(t *testing.T) {
	src, store := new(bridgetest.Source), &gatedStore{Store: new(bridgetest.Store)}
	src.Person(t).Save("Plan.md", "old\n")
	src.Person(t).Save("Other.md", "new\n")
	ws, err := bridge.New(bridge.Options{Structure: bridge.StructureDirect, Folders: []bridge.FolderSource{{Name: "Notes", Source: src, Store: store}}})
	if err == nil {
		err = ws.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, ws, other, bridge.Write{Text: "new text\n", By: ann})
	ws.Kept(other)
	openStore := store.close()
	write(t, ws, plan, bridge.Write{Text: "old text\n", By: bob})
	store.waiting(t)
	done := make(chan error, 1)
	go func() {
		_, err := ws.Rename(t.Context(), other, plan, bridge.Restructure{By: ann, Replace: true})
		done <- err
	}()
	select {
	case err = <-done:
		openStore()
	case <-time.After(200 * time.Millisecond): // it waits for the record
		openStore()
		err = <-done
	}
	if err != nil {
		t.Fatal(err)
	}
	store.gated.Wait()
	ws.Kept(plan)
	if got := authorsOf(pendingOf(t, ws)); got != "ann" {
		t.Errorf("authors %q", got)
	}
	next := process(t, src, store)
	if got := authorsOf(pendingOf(t, next)); got != "ann" {
		t.Errorf("authors for the next process %q of %q", got, open(t, next, plan).Raw())
	}
}

// lateWrite is a fixture with a write by bob whose record the store keeps after a
// while, or when open is called.
func lateWrite(t *testing.T) (f *bridgetest.Fixture, store *gatedStore, open func()) {
	t.Helper()
	store = &gatedStore{Store: new(bridgetest.Store)}
	f = bridgetest.New(t, map[string]string{plan: "old\n"}, func(o *bridge.Options) { o.Folders[0].Store = store })
	open = store.close()
	write(t, f.Workspace, plan, bridge.Write{Text: "old text\n", By: bob})
	store.waiting(t)
	time.AfterFunc(200*time.Millisecond, open)
	return f, store, open
}

// A person takes the note away and a program makes another one there while the
// record of the first one's last write is on its way.
func TestMadeAgainDuringALateWrite(t *testing.T) {
	f, store, openStore := lateWrite(t)
	f.Delete(plan)
	if _, err := f.Create(t.Context(), plan, bridge.Write{Text: "new\n", By: ann}); err != nil {
		t.Fatal(err)
	}
	write(t, f.Workspace, plan, bridge.Write{Text: "new\n\nmore\n", By: model.Author{Name: "carol"}})
	f.Workspace.Kept(plan)
	openStore()
	store.gated.Wait()
	f.Workspace.Kept(plan)
	next := process(t, f.Source("Notes"), store)
	if got := authorsOf(pendingOf(t, next)); got != "ann carol" {
		t.Errorf("authors for the next process %q of %q", got, open(t, next, plan).Raw())
	}
}

// A person renames the note while the record is on its way.
func TestRenamedDuringALateWrite(t *testing.T) {
	const moved = "Notes/Moved.md"
	f, store, openStore := lateWrite(t)
	f.Rename(plan, moved)
	openStore()
	f.Workspace.Kept(moved)
	next := process(t, f.Source("Notes"), store)
	if got := authorsOf(pendingOf(t, next)); got != "bob" {
		t.Errorf("authors for the next process %q of %q", got, open(t, next, moved).Raw())
	}
}

// A store that cannot even be asked which document a note has.
func TestLateWriteWhenTheStoreCannotBeAsked(t *testing.T) {
	for _, save := range []bool{false, true} {
		store := &gatedStore{Store: new(bridgetest.Store)}
		f := bridgetest.New(t, map[string]string{plan: "old\n"}, func(o *bridge.Options) { o.Folders[0].Store = store })
		open(t, f.Workspace, plan)
		store.lookup.Store(true)
		write(t, f.Workspace, plan, bridge.Write{Text: "old text\n", By: bob})
		f.Workspace.Kept(plan)
		store.lookup.Store(false)
		if save {
			f.Person(plan, "typed\n"+f.SourceText(plan))
		}
		if got := authorsOf(pendingOf(t, f.Workspace)); got != "bob" {
			t.Errorf("save %v: authors %q of %q", save, got, open(t, f.Workspace, plan).Raw())
		}
	}
}

// Intents that somebody tampered with cost their writes' authors, and nothing else.
func TestHostileIntents(t *testing.T) {
	const raw = "é{++è++}\n"
	for _, edits := range [][]model.EditSpan{
		{{Off: math.MaxInt - 1, New: 10}},
		{{Off: math.MaxInt - 1, Len: 10, New: 10}},
		{{Off: math.MaxInt, New: math.MaxInt}},
		{{Off: 2, New: math.MaxInt}},
		{{Off: 2, Len: math.MaxInt}},
		{{Off: -1, New: 1}},
		{{Off: 0, New: -1}},
		{{Off: 0, Len: -1, New: 1}},
		{{Off: 2, New: 8}, {Off: math.MaxInt, New: 8}},
		{{Off: 2, New: 8}, {Off: 1, New: 1}},
		{{Off: 2, New: 2}, {Off: 0, New: 8}},
		{{Off: 1, New: 5}},
		{{Off: 1, New: 1}},
		{{Off: 6, New: 1}},
	} {
		for _, known := range []bool{false, true} {
			src, store := new(bridgetest.Source), new(bridgetest.Store)
			src.Person(t).Save("Plan.md", "é\n")
			if known {
				ws := process(t, src, store)
				write(t, ws, plan, bridge.Write{Text: "é!\n", By: bob})
				ws.Kept(plan)
				src.Person(t).Save("Plan.md", "é\n")
				open(t, process(t, src, store), plan)
			}
			src.Person(t).Save("Plan.md", raw)
			_ = store.Intend("Plan.md", model.SumOf(raw), model.Intent{Record: model.Record{Author: "ann"}, Edits: edits})
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%+v, known %v: panic: %v", edits, known, p)
					}
				}()
				next := process(t, src, store)
				if got := open(t, next, plan).Raw(); got != raw {
					t.Errorf("%+v: raw %q", edits, got)
				}
				id, err := store.DocID("Plan.md")
				if err != nil {
					t.Fatal(err)
				}
				if got := textOf(t, store, id); got != raw {
					t.Errorf("%+v, known %v: document %q, file %q", edits, known, got, raw)
				}
				pendingOf(t, next)
			}()
		}
	}
}

func textOf(t *testing.T, store model.Store, id model.DocID) string {
	t.Helper()
	h, err := store.Load(id)
	if err != nil {
		t.Fatal(err)
	}
	doc := ycrdt.NewDoc(ycrdt.Options{})
	for _, rec := range h.Records {
		if err := doc.ApplyUpdate(rec.Update, nil); err != nil {
			t.Fatal(err)
		}
	}
	return doc.Text("contents").String()
}

// Close waits for the records of writes that have ended.
func TestCloseKeepsLateWrites(t *testing.T) {
	src, store := new(bridgetest.Source), &gatedStore{Store: new(bridgetest.Store)}
	src.Person(t).Save("Plan.md", "old\n")
	ws := process(t, src, store)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- ws.Run(ctx) }()
	openStore := store.close()
	write(t, ws, plan, bridge.Write{Text: "old text\n", By: bob})
	store.waiting(t)
	cancel()
	select {
	case <-done:
		t.Fatal("Run has returned before the record is kept")
	case <-time.After(50 * time.Millisecond):
	}
	openStore()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if id, err := store.DocID("Plan.md"); err != nil || textOf(t, store, id) != src.Person(t).Content("Plan.md") {
		t.Errorf("after Run: %v %v", id, err)
	}
}

// unreadable is a store that can be asked nothing about documents, and keeps nothing, while it is broken.
type unreadable struct{ brokenAll }

func (s *unreadable) Load(id model.DocID) (model.History, error) {
	if s.broken.Load() {
		return model.History{}, errors.New("disk error")
	}
	return s.Store.Load(id)
}

// What a person saves while the store does not work stays, whoever writes then.
func TestPersonsSaveWhileTheStoreIsUnreadable(t *testing.T) {
	store := &unreadable{brokenAll{Store: new(bridgetest.Store)}}
	f := bridgetest.New(t, map[string]string{plan: "one\n"}, func(o *bridge.Options) { o.Folders[0].Store = store })
	open(t, f.Workspace, plan)
	store.broken.Store(true)
	write(t, f.Workspace, plan, bridge.Write{Text: "one two\n", By: ann})
	f.Workspace.Kept(plan)
	f.Person(plan, "typed by a person\n"+f.SourceText(plan))
	store.broken.Store(false)
	f.Workspace.Update(t.Context(), plan, bob, nil, func(cur *model.Version) (string, error) { return cur.Text() + "more\n", nil })
	if got := f.SourceText(plan); !strings.Contains(got, "typed by a person") {
		t.Errorf("the person's save is gone: %q", got)
	}
}

// A copy that a person leaves where a note was before it was renamed is a person's.
func TestCopyAtAnOldName(t *testing.T) {
	const moved = "Notes/Moved.md"
	kept := realStore(t)
	f := bridgetest.New(t, map[string]string{plan: "one {++carol's++}\n"}, func(o *bridge.Options) { o.Folders[0].Store = kept })
	if len(pendingOf(t, f.Workspace)) != 1 {
		t.Fatal("no suggestion")
	}
	write(t, f.Workspace, plan, bridge.Write{Text: "one carol's\ntwo\n", By: ann})
	f.Workspace.Kept(plan)
	raw := f.SourceText(plan)
	f.Rename(plan, moved)
	f.Person(plan, raw)
	for _, s := range pendingOf(t, f.Workspace) {
		if s.Author != "" && strings.Contains(s.New, "carol") {
			t.Errorf("%+v", s)
		}
	}
}

func realStore(t *testing.T) model.Store {
	t.Helper()
	s, err := store.Open(t.TempDir()+"/store.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// What a person saves upon a write that the store could not keep leaves that its writer's.
func TestPersonsSaveUponAFailedKeep(t *testing.T) {
	for _, cache := range []int{0, 1} {
		store := &brokenAll{Store: new(bridgetest.Store)}
		f := bridgetest.New(t, map[string]string{plan: "one\n", other: "x\n"}, func(o *bridge.Options) { o.Folders[0].Store, o.CacheBytes = store, cache })
		open(t, f.Workspace, plan)
		store.broken.Store(true)
		write(t, f.Workspace, plan, bridge.Write{Text: "one two\n", By: ann})
		f.Workspace.Kept(plan)
		f.Person(plan, "typed\n"+f.SourceText(plan))
		open(t, f.Workspace, other)
		pendingOf(t, f.Workspace) // fails to keep it again
		f.Person(plan, "more\n"+f.SourceText(plan))
		store.broken.Store(false)
		write(t, f.Workspace, plan, bridge.Write{Text: open(t, f.Workspace, plan).Text() + "three\n", By: bob})
		f.Workspace.Kept(plan)
		for name, ws := range map[string]*bridge.Workspace{"this process": f.Workspace, "the next": process(t, f.Source("Notes"), store)} {
			if got := authorsOf(pendingOf(t, ws)); got != "ann bob" {
				t.Errorf("cache %d: authors for %s %q of %q", cache, name, got, open(t, ws, plan).Raw())
			}
		}
		id, _ := store.DocID("Plan.md")
		if got := textOf(t, store, id); got != f.SourceText(plan) {
			t.Errorf("document %q, file %q", got, f.SourceText(plan))
		}
	}
}

// The process is killed before the store has the record, and a person edits the note
// before the next one looks: whose the write is is told from its intent, unless the
// file never had it.
func TestPersonsSaveAfterAKill(t *testing.T) {
	const before, after = "one two three\nfour five\n", "one TWO three\nfour five\nsix 😀\n"
	for _, known := range []bool{false, true} {
		for _, tt := range []struct {
			name    string
			save    func(raw string) string
			authors string
		}{
			{"above", func(raw string) string { return "typed\n" + raw }, "ann ann"},
			{"below", func(raw string) string { return raw + "typed\n" }, "ann ann"},
			{"between", func(raw string) string { return strings.Replace(raw, "four", "4our é", 1) }, "ann ann"},
			{"one accepted by hand", func(raw string) string { return strings.Replace(raw, "{--two--}{++TWO++}", "TWO", 1) }, "ann"},
			{"taken back by hand", func(string) string { return before }, ""},
			{"never in the file", func(string) string { return "typed\n" + before + "{++mine++}\n" }, ""},
		} {
			src, store := new(bridgetest.Source), &brokenStore{Store: new(bridgetest.Store), notes: true}
			src.Person(t).Save("Plan.md", before)
			if known {
				ws := process(t, src, store)
				write(t, ws, plan, bridge.Write{Text: before + "more\n", By: bob})
				decide(t, ws, model.Rejected, pendingOf(t, ws)[0].ID)
			}
			ws := process(t, killedSource{src, store}, store)
			interrupt(t, ws, store, after)
			src.Person(t).Save("Plan.md", tt.save(src.Person(t).Content("Plan.md")))
			for range 2 {
				next := process(t, src, store)
				var got []string
				for _, s := range pendingOf(t, next) {
					if s.Author != "" {
						got = append(got, s.Author)
					}
				}
				if strings.Join(got, " ") != tt.authors {
					t.Errorf("known %v, %s: authors %q of %q, want %q", known, tt.name, got, open(t, next, plan).Raw(), tt.authors)
				}
				if id, err := store.DocID("Plan.md"); err == nil && textOf(t, store, id) != src.Person(t).Content("Plan.md") {
					t.Errorf("known %v, %s: document %q, file %q", known, tt.name, textOf(t, store, id), src.Person(t).Content("Plan.md"))
				}
			}
		}
	}
}

// While the store is full it is known whose a write is; nothing can be decided on, and
// then it can be, by the ids that were listed.
func TestDecisionAfterAFailedKeep(t *testing.T) {
	src, store := new(bridgetest.Source), &brokenAll{Store: new(bridgetest.Store)}
	src.Person(t).Save("Plan.md", "one\n")
	ws := process(t, src, store)
	store.broken.Store(true)
	write(t, ws, plan, bridge.Write{Text: "one two\n", By: ann})
	list := pendingOf(t, ws)
	if got := authorsOf(list); got != "ann" {
		t.Errorf("authors while the store is full: %q", got)
	}
	out, err := ws.Decide(t.Context(), ids(list), model.Accepted, person)
	if err != nil || !errors.Is(out.Failed[plan], model.ErrNoSpace) || out.Notes > 0 {
		t.Errorf("a decision while the store is full: %+v, %v", out, err)
	}
	store.broken.Store(false)
	if out := decide(t, ws, model.Accepted, ids(list)...); len(out.Decided) != 1 || out.Decided[0].Author != "ann" {
		t.Errorf("a decision after that: %+v", out)
	}
	if got := src.Person(t).Content("Plan.md"); got != "one two\n" {
		t.Errorf("accepted: %q", got)
	}
}

// What the store could not keep is kept some seconds later, though nobody asks.
func TestFailedKeepIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, store := new(bridgetest.Source), &brokenAll{Store: new(bridgetest.Store)}
		src.Person(t).Save("Plan.md", "one\n")
		ws := process(t, src, store)
		store.broken.Store(true)
		write(t, ws, plan, bridge.Write{Text: "one two\n", By: ann})
		time.Sleep(12 * time.Second)
		store.broken.Store(false)
		time.Sleep(6 * time.Second)
		if id, err := store.DocID("Plan.md"); err != nil || textOf(t, store, id) != src.Person(t).Content("Plan.md") {
			t.Errorf("it is not kept: %q, %v", id, err)
		}
	})
}
