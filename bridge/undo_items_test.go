package bridge_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/randomtest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// Whatever was decided at once can be undone one by one: each suggestion waits, or was
// decided on in one batch, and an undo of it, of that batch, or of the newest lets it wait
// again as it was. So it is when the process is killed in between: what has not been taken
// back still can be.

// itemModel is what there is to decide, beside a workspace.
type itemModel struct {
	t       testing.TB
	r       *rand.Rand
	src     *bridgetest.Source
	store   *bridgetest.Store
	ws      *bridge.Workspace
	items   []*decidable
	batches []string // the newest last
}

// decidable is a suggestion: a line of a note that is to be another.
type decidable struct {
	model.Suggestion
	batch   string // "" while it waits
	verdict model.Verdict
}

func (d *decidable) raw() string {
	switch {
	case d.batch == "":
		return "{--" + d.Old + "--}{++" + d.New + "++}"
	case d.verdict == model.Accepted:
		return d.New
	}
	return d.Old
}

func newItemModel(t testing.TB, r *rand.Rand) *itemModel {
	m := &itemModel{t: t, r: r, src: bridgetest.NewSource(t), store: bridgetest.NewStore(t)}
	const notes, lines = 3, 3
	for n := range notes {
		var text []string
		for l := range lines {
			text = append(text, fmt.Sprintf("old%d%d", n, l))
		}
		m.src.Person(t).Save(fmt.Sprintf("n%d.md", n), strings.Join(text, "\n\n")+"\n")
	}
	m.ws = process(t, m.src, m.store)
	for n := range notes {
		p := model.Path(fmt.Sprintf("Notes/n%d.md", n))
		for l := range lines {
			v := open(t, m.ws, p)
			text := strings.Replace(v.Text(), fmt.Sprintf("old%d%d", n, l), fmt.Sprintf("new%d%d", n, l), 1)
			write(t, m.ws, p, bridge.Write{Base: v, Text: text, By: []model.Author{ann, bob}[l%2]})
		}
	}
	for _, s := range pendingOf(t, m.ws) {
		m.items = append(m.items, &decidable{Suggestion: s})
	}
	if len(m.items) != notes*lines {
		t.Fatalf("%d suggestions, want %d", len(m.items), notes*lines)
	}
	return m
}

// in are the items that ok holds for.
func (m *itemModel) in(ok func(*decidable) bool) (list []*decidable) {
	for _, d := range m.items {
		if ok(d) {
			list = append(list, d)
		}
	}
	return list
}

func namesOf(list []*decidable) (ids []string) {
	for _, d := range list {
		ids = append(ids, d.ID)
	}
	return ids
}

func isDecided(d *decidable) bool { return d.batch != "" }

func (m *itemModel) some(list []*decidable) []*decidable {
	return shuffled(m.r, list)[:randomtest.Between(m.r, 1, len(list))]
}

func (m *itemModel) decides() {
	list := m.in(func(d *decidable) bool { return !isDecided(d) })
	if len(list) == 0 {
		return
	}
	list = m.some(list)
	verdict := randomtest.Pick(m.r, model.Accepted, model.Rejected)
	out := decide(m.t, m.ws, verdict, namesOf(list)...)
	for _, d := range list {
		d.batch, d.verdict = out.Batch, verdict
	}
	m.batches = append(m.batches, out.Batch)
}

// undone compares what an undo did with what it was to do, but where it failed.
func (m *itemModel) undone(want []*decidable, out bridge.Outcome, err error) {
	if len(want) == 0 {
		if !errors.Is(err, bridge.ErrNothingToUndo) {
			m.t.Fatalf("an undo of nothing: %+v, %v", out, err)
		}
		return
	}
	if err != nil {
		m.t.Fatal(err)
	}
	var got, wanted []string
	for _, s := range out.Decided {
		got = append(got, s.ID)
	}
	for _, d := range want {
		if out.Failed[d.Path] == nil {
			wanted = append(wanted, d.ID)
			d.batch = ""
		}
	}
	slices.Sort(got)
	slices.Sort(wanted)
	if !slices.Equal(got, wanted) {
		m.t.Fatalf("taken back %v, want %v; failed %v", got, wanted, out.Failed)
	}
}

func (m *itemModel) undoesItems() {
	list := m.in(isDecided)
	if len(list) == 0 {
		return
	}
	list = m.some(list)
	out, err := m.ws.Undo(m.t.Context(), "", person, namesOf(list)...)
	m.undone(list, out, err)
}

// undoesWhatIsNot takes back what waits, alone or beside what does not: nothing is.
func (m *itemModel) undoesWhatIsNot() {
	waiting := m.in(func(d *decidable) bool { return !isDecided(d) })
	if len(waiting) == 0 {
		return
	}
	ids := append(namesOf(m.in(isDecided)), randomtest.Pick(m.r, waiting...).ID)
	out, err := m.ws.Undo(m.t.Context(), "", person, ids...)
	m.undone(nil, out, err)
}

// aBatch is one that was decided, "" for the newest, and what is left of it.
func (m *itemModel) aBatch() (batch string, left []*decidable) {
	batch = randomtest.Pick(m.r, append([]string{""}, m.batches...)...)
	for _, b := range slices.Backward(m.batches) {
		if batch == "" || b == batch {
			left = m.in(func(d *decidable) bool { return d.batch == b })
		}
		if len(left) > 0 {
			break
		}
	}
	return batch, left
}

func (m *itemModel) undoesABatch() {
	batch, left := m.aBatch()
	out, err := m.ws.Undo(m.t.Context(), batch, person)
	m.undone(left, out, err)
}

// restarts runs do in a process of its own that is killed before it has done all of it, and
// goes on with another.
func (m *itemModel) restarts(do func(*bridge.Workspace)) {
	dies := &machine{src: m.src, store: m.store}
	ws := dies.start(m.t)
	pendingOf(m.t, ws)
	dies.killAt = dies.steps + randomtest.Between(m.r, 1, 12)
	do(ws)
	dies.killAt = 1
	m.ws = process(m.t, survivor{m.src, dies}, m.store)
}

func (m *itemModel) isKilled() {
	batch, left := m.aBatch()
	m.restarts(func(ws *bridge.Workspace) { ws.Undo(m.t.Context(), batch, person) })
	for _, d := range left { // what the text says was undone
		if old := d.raw(); !slices.Contains(strings.Split(open(m.t, m.ws, d.Path).Raw(), "\n"), old) {
			d.batch = ""
		}
	}
}

func (m *itemModel) check() {
	lines := make(map[model.Path][]string)
	want := make(map[string]string)
	as := func(s model.Suggestion) string {
		return fmt.Sprintf("%s %q %q by %s in %s at %s", s.Path, s.Old, s.New, s.Author, s.Session, s.Time.Format(time.RFC3339Nano))
	}
	for _, d := range m.items {
		lines[d.Path] = append(lines[d.Path], d.raw())
		if !isDecided(d) {
			want[d.ID] = as(d.Suggestion)
		}
	}
	for p, l := range lines {
		if got, want := open(m.t, m.ws, p).Raw(), strings.Join(l, "\n\n")+"\n"; got != want {
			m.t.Fatalf("%s is %q, want %q", p, got, want)
		}
	}
	got := make(map[string]string)
	for _, s := range pendingOf(m.t, m.ws) {
		got[s.ID] = as(s)
	}
	if !maps.Equal(got, want) {
		m.t.Fatalf("there waits %v, want %v", got, want)
	}
	journal, err := m.ws.Journal(1000)
	if err != nil {
		m.t.Fatal(err)
	}
	undos, left := model.UndosOf(journal), make(map[string]string)
	for _, e := range journal {
		items, _ := undos.Undoable(e)
		for _, x := range items {
			left[x.ID] = e.BatchOf()
		}
	}
	for _, d := range m.items {
		if left[d.ID] != d.batch {
			m.t.Fatalf("%s can be taken back of %q, and was decided in %q", d.ID, left[d.ID], d.batch)
		}
	}
}

func TestUndoByItem(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		m := newItemModel(t, r)
		randomtest.Repeat(t, r, m.check, map[string]func(){
			"decide":          m.decides,
			"undo items":      m.undoesItems,
			"undo what waits": m.undoesWhatIsNot,
			"undo a batch":    m.undoesABatch,
			"be killed":       m.isKilled,
			"restart":         func() { m.ws = process(t, m.src, m.store) },
		})
	})
}

// A later decision on what an item left is undone as it was, whatever else of the batch
// of that item has been.
func TestUndoOfAnItemLeavesTheOthers(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n\ntwo\n"})
	edit := func(author model.Author, old, new string) string {
		t.Helper()
		v := open(t, f.Workspace, plan)
		known := ids(pendingOf(t, f.Workspace))
		write(t, f.Workspace, plan, bridge.Write{Base: v, Text: strings.Replace(v.Text(), old, new, 1), By: author})
		for _, s := range pendingOf(t, f.Workspace) {
			if !slices.Contains(known, s.ID) {
				return s.ID
			}
		}
		t.Fatalf("%q for %q is no suggestion", new, old)
		return ""
	}
	added, other := edit(ann, "one", "one more"), edit(ann, "two", "2")
	decide(t, f.Workspace, model.Accepted, added, other)
	deleted := decide(t, f.Workspace, model.Accepted, edit(bob, "one more", "one"))
	if _, err := f.Undo(t.Context(), "", person, other[:6]); err != nil {
		t.Fatal(err)
	}
	undo(t, f.Workspace, deleted.Batch)
	if got, want := open(t, f.Workspace, plan).Raw(), "one{-- more--}\n\n{--two--}{++2++}\n"; got != want {
		t.Errorf("the note is %q, want %q", got, want)
	}
	if _, err := f.Undo(t.Context(), "", person, other); err == nil || !strings.Contains(err.Error(), other+" has already been undone") {
		t.Errorf("taken back twice: %v", err)
	}
	if _, err := f.Undo(t.Context(), "", person, "0000000000"); err == nil || !strings.Contains(err.Error(), "there is no decision on 0000000000") {
		t.Errorf("an id that nothing has: %v", err)
	}
}

// A rename that is undone has its links with it, in texts and in front matter; what else was decided
// with it stays. One of two names that were exchanged does not come back without the other.
func TestUndoOfOneRename(t *testing.T) {
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
	files := map[string]string{
		"A.md": "a\n", "B.md": "b\n", "C.md": "c\n", "D.md": "d\n", "Plan.md": "one\n", "Index.md": "---\nup: \"[[A]]\"\n---\n[[A]] and [[B]]\n",
	}
	for name, text := range files {
		src.Person(t).Save(name, text)
	}
	ws := process(t, src, store)
	moveTo(t, ws, "Notes/A.md", "Notes/Z.md")
	write(t, ws, plan, bridge.Write{Text: "ONE\n", By: ann})
	moveTo(t, ws, "Notes/C.md", "Notes/aside.md")
	moveTo(t, ws, "Notes/D.md", "Notes/C.md")
	moveTo(t, ws, "Notes/aside.md", "Notes/D.md")
	before := src.Person(t).Content("Index.md")
	proposals, err := ws.Proposals(t.Context(), "")
	if err != nil || len(proposals) != 3 {
		t.Fatalf("%+v, %v", proposals, err)
	}
	id := make(map[model.Path]string)
	all := ids(pendingOf(t, ws))
	for _, p := range proposals {
		id[p.NewPath] = p.ID
		all = append(all, p.ID)
	}
	decide(t, ws, model.Accepted, all...)
	if got, want := src.Person(t).Content("Index.md"), "---\nup: \"[[Z]]\"\n---\n[[Z]] and [[B]]\n"; got != want {
		t.Fatalf("accepted: %q, want %q", got, want)
	}
	ws = process(t, src, store)
	if _, err := ws.Undo(t.Context(), "", person, id["Notes/Z.md"]); err != nil {
		t.Fatal(err)
	}
	has := func(name, want string) {
		t.Helper()
		if got := src.Person(t).Content(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	has("Index.md", before)
	has("A.md", "a\n")
	has("Plan.md", "ONE\n")
	has("C.md", "d\n")
	out, err := ws.Undo(t.Context(), "", person, id["Notes/C.md"])
	if err != nil || len(out.Proposals) != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	has("C.md", "c\n")
	has("D.md", "d\n")
	has("Plan.md", "ONE\n")
	if _, err := ws.Undo(t.Context(), "", person, id["Notes/D.md"]); !errors.Is(err, bridge.ErrNothingToUndo) {
		t.Errorf("it came back with the other: %v", err)
	}
}

// A substitution comes back as it was written, also if the undo of what was decided with it follows.
func TestSubstitutionIsUndoneInParts(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\n\ntwo{~~three~>four~~} five\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "onefour five\n", By: ann})
	before := open(t, f.Workspace, plan).Raw()
	list := ids(pendingOf(t, f.Workspace))
	for _, order := range [][]string{list, {list[1], list[0]}} {
		out := decide(t, f.Workspace, model.Accepted, list...)
		for _, id := range order {
			if _, err := f.Undo(t.Context(), out.Batch, person, id); err != nil {
				t.Fatal(err)
			}
		}
		if got := open(t, f.Workspace, plan).Raw(); got != before {
			t.Errorf("undone %v: %q, want %q", order, got, before)
		}
	}
}

// A note leaves a folder that has exchanged its name with another one and is then deleted. The undo returns the note to its own
// folder.
func TestUndoOfAMoveOutOfAnExchangedFolder(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/d/e/E.md": "e\n", "Notes/f/F.md": "f\n"})
	if err := f.Exchange(t.Context(), "Notes/d/e", "Notes/f", bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
	moveTo(t, f.Workspace, "Notes/f/E.md", "Notes/C.md")
	remove(t, f.Workspace, "Notes/f")
	waiting, vault := f.Proposed(), sortedNames(t, f)
	decideAll(t, f.Workspace, model.Accepted)
	if got := sortedNames(t, f); !slices.Equal(got, []string{"C.md", "d", "d/e", "d/e/F.md"}) {
		t.Fatalf("accepted: the vault holds %q", got)
	}
	undo(t, f.Workspace, "")
	if got := sortedNames(t, f); !slices.Equal(got, vault) {
		t.Errorf("the vault holds %q, want %q", got, vault)
	}
	if got := f.Proposed(); !slices.Equal(got, waiting) {
		t.Errorf("%q waits, want %q", got, waiting)
	}
}

// A user has created a deleted folder again. The undo of an older move returns the note to that folder.
func TestUndoOfAMoveOutOfAFolderThatAUserCreatedAgain(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/d/N.md": "n\n"})
	moveTo(t, f.Workspace, "Notes/d/N.md", "Notes/N.md")
	older := decideAll(t, f.Workspace, model.Accepted).Batch
	remove(t, f.Workspace, "Notes/d")
	decideAll(t, f.Workspace, model.Accepted)
	f.Person("Notes/d/M.md", "m\n")
	undo(t, f.Workspace, older)
	if got := sortedNames(t, f); !slices.Equal(got, []string{"d", "d/M.md", "d/N.md"}) {
		t.Errorf("the vault holds %q", got)
	}
}

// A file is changed and then deleted, and another file gets its name. Undone one after the other, the decisions restore both
// files.
func TestUndoOfAChangeOfAFileWhoseNameAnotherGot(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"Notes/a.base": "a: 1\n", "Notes/b.base": "b: 1\n"})
	propose(t, f.Workspace, "Notes/a.base", "a: 2\n")
	decideAll(t, f.Workspace, model.Accepted)
	remove(t, f.Workspace, "Notes/a.base")
	moveTo(t, f.Workspace, "Notes/b.base", "Notes/a.base")
	decideAll(t, f.Workspace, model.Accepted)
	undo(t, f.Workspace, "")
	undo(t, f.Workspace, "")
	if a, b := f.SourceText("Notes/a.base"), f.SourceText("Notes/b.base"); a != "a: 1\n" || b != "b: 1\n" {
		t.Errorf("a.base has %q and b.base has %q", a, b)
	}
}

func remove(t *testing.T, ws *bridge.Workspace, p model.Path) {
	t.Helper()
	if _, err := ws.Remove(t.Context(), p, bridge.ChangeRequest{Author: ann}); err != nil {
		t.Fatal(err)
	}
}

// sortedNames lists the paths in the vault.
func sortedNames(t *testing.T, f *bridgetest.Fixture) []string {
	return slices.Sorted(slices.Values(f.Source("Notes").Person(t).Names()))
}
