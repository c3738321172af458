package bridge_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// An undo brings back all that was there before its decision: what people have in the
// vault, byte for byte, what is shown, and what waits. So do several, the newest first,
// whatever was decided together, and whether or not relayfs starts again in between, and
// whether some of it was undone by itself before.

// scene is all that a decision can change and an undo has to bring back.
type scene struct {
	vault   map[string]string     // bytes of files, "/" for folders
	shown   map[model.Path]string // texts
	waiting []string              // proposals, and suggestions with the renames that they follow
	stale   []string              // IDs of the proposals that are stale
}

func (m *proposalMachine) scene() scene {
	s := scene{vault: make(map[string]string), shown: make(map[model.Path]string)}
	ctx := m.t.Context()
	err := m.src.Scan(ctx, func(e model.SourceEntry) {
		if s.vault[e.Rel] = "/"; e.Dir {
			return
		}
		data, _, err := m.src.Read(ctx, e.Rel)
		if err != nil {
			m.t.Fatal(err)
		}
		s.vault[e.Rel] = string(data)
	})
	if err != nil {
		m.t.Fatal(err)
	}
	for p, dir := range m.paths() {
		if s.shown[p] = "/"; dir {
			continue
		}
		v, err := m.ws.Open(ctx, p)
		if err != nil {
			m.t.Fatalf("open %q: %v", p, err)
		}
		s.shown[p] = v.Text()
	}
	for _, p := range m.proposals() {
		s.waiting = append(s.waiting, fmt.Sprintf("%s %s %s %s %s %s", p.ID, p.Kind, p.Path, p.NewPath, p.Author, p.Session))
		if p.Stale {
			s.stale = append(s.stale, p.ID)
		}
	}
	for _, sg := range m.suggestions() {
		s.waiting = append(s.waiting, fmt.Sprintf("%s %s %s %q %q %s %s, with %q", sg.ID, sg.Time, sg.Path, sg.Old, sg.New, sg.Author, sg.Session, sg.Proposal))
	}
	slices.Sort(s.waiting)
	return s
}

func (m *proposalMachine) suggestions() []model.Suggestion {
	list, err := m.ws.Suggestions(m.t.Context(), "")
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

// waiting is the IDs of all that waits.
func (m *proposalMachine) waiting() (ids []string) {
	for _, p := range m.proposals() {
		ids = append(ids, p.ID)
	}
	for _, s := range m.suggestions() {
		ids = append(ids, s.ID)
	}
	return ids
}

// differs says how two scenes differ, "" if they do not.
func (s scene) differs(want scene) string {
	switch {
	case !maps.Equal(s.vault, want.vault):
		return fmt.Sprintf("the vault has\n%q\nwant\n%q", s.vault, want.vault)
	case !maps.Equal(s.shown, want.shown):
		return fmt.Sprintf("shown is\n%q\nwant\n%q", s.shown, want.shown)
	case !slices.Equal(s.waiting, want.waiting):
		return fmt.Sprintf("waiting is\n%q\nwant\n%q", s.waiting, want.waiting)
	case !slices.Equal(slices.Sorted(slices.Values(s.stale)), slices.Sorted(slices.Values(want.stale))):
		return fmt.Sprintf("stale is\n%q\nwant\n%q", s.stale, want.stale)
	}
	return ""
}

// newLinkedMachine is a vault whose notes link to each other, in texts and in front matter.
func newLinkedMachine(t testing.TB, r *rand.Rand) *proposalMachine {
	m := newProposalMachine(t, r)
	p := m.src.Person(t)
	p.Save("Index.md", "---\nup: \"[[A]]\"\n---\nindex [[A]] [[B|bee]] [[C]] [e](d/e/E.md) [[f/F]]\n\n[r]: A.md\n[s]: <d/C.md> \"T\"\n")
	p.Save("d/C.md", "wordC\n[[B]] and [[A]]\n")
	m.settle()
	return m
}

// agentExchanges lets two or three things change their names in a circle.
func (m *proposalMachine) agentExchanges() {
	var circle []model.Path
	size := randomtest.Between(m.r, 2, 3)
	for _, p := range shuffled(m.r, sortedPaths(m.paths())) {
		if len(circle) < size && (len(circle) == 0 || m.paths()[p] == m.paths()[circle[0]]) {
			circle = append(circle, p)
		}
	}
	aside := circle[0].Dir().Join("aside" + map[bool]string{true: "", false: ".md"}[m.paths()[circle[0]]])
	from := append(slices.Clone(circle), aside)
	to := append([]model.Path{aside}, circle...)
	for i := range from {
		if _, err := m.ws.Rename(m.t.Context(), from[i], to[i], bridge.ChangeRequest{Author: agent}); err != nil {
			if !tolerated(err) {
				m.t.Fatal(err)
			}
			return
		}
	}
}

// decidesSome accepts or rejects some of what waits, or all, and says whether that changed
// anything.
func (m *proposalMachine) decidesSome() bool {
	ids := m.waiting()
	if m.r.IntN(2) > 0 {
		ids = slices.DeleteFunc(ids, func(string) bool { return m.r.IntN(2) > 0 })
	}
	verdict := randomtest.Pick(m.r, model.Accepted, model.Rejected)
	out, err := m.ws.DecideStale(m.t.Context(), ids, verdict, model.Author{Name: "person"})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Logf("%s %d of %d, failed %v: now %+v", verdict, out.Notes, len(ids), out.Failed, m.scene())
	return len(out.Decided)+len(out.Proposals) > 0
}

func (m *proposalMachine) maybeRestarts() {
	if m.r.IntN(2) > 0 {
		m.stop()
		m.start()
	}
}

// undoesSome takes back some of the newest batch one by one, in any order, and says whether
// anything of it is left. What another that was decided with it stands in the way of fails.
func (m *proposalMachine) undoesSome() (left bool) {
	journal, err := m.ws.Journal(1000)
	if err != nil {
		m.t.Fatal(err)
	}
	batch, undos := "", model.UndosOf(journal)
	var items []string
	for _, e := range journal {
		list, ok := undos.Undoable(e)
		if !ok || e.Withdrawn() || batch != "" && e.BatchOf() != batch {
			continue
		}
		batch = e.BatchOf()
		for _, x := range list {
			items = append(items, x.ID)
		}
	}
	for _, id := range shuffled(m.r, items) {
		if m.r.IntN(2) > 0 {
			continue
		}
		out, err := m.ws.Undo(m.t.Context(), batch, model.Author{Name: "person"}, id)
		if err != nil && !errors.Is(err, bridge.ErrNothingToUndo) { // it followed its rename
			m.t.Fatal(err)
		}
		m.t.Logf("undo of %s: failed %v %v: now %+v", id, err, out.Failed, m.scene())
		m.maybeRestarts()
	}
	if journal, err = m.ws.Journal(1000); err != nil {
		m.t.Fatal(err)
	}
	undos = model.UndosOf(journal)
	return slices.ContainsFunc(journal, func(e model.JournalEntry) bool {
		_, ok := undos.Undoable(e)
		return ok && e.BatchOf() == batch
	})
}

func TestUndoBringsEverythingBack(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		m := newLinkedMachine(t, r)
		defer func() { m.stop() }()
		acts := map[string]func(){
			"moves": m.agentMoves, "exchanges": m.agentExchanges, "deletes": m.agentDeletes,
			"creates": m.agentCreates, "makes a folder": m.agentMakesFolder, "edits": m.agentEdits, "a user types": m.personTypes,
		}
		names := slices.Sorted(maps.Keys(acts))
		for range randomtest.Between(m.r, 1, 6) {
			act := randomtest.Pick(m.r, names...)
			acts[act]()
		}
		scenes := []scene{m.scene()}
		m.t.Logf("before: %+v", scenes[0])
		for range randomtest.Between(m.r, 1, 2) {
			if m.decidesSome() {
				scenes = append(scenes, m.scene())
			}
			m.maybeRestarts()
		}
		for i := len(scenes) - 2; i >= 0; i-- {
			if m.r.IntN(2) > 0 || m.undoesSome() {
				out, err := m.ws.Undo(m.t.Context(), "", model.Author{Name: "person"})
				if err != nil || len(out.Failed) > 0 {
					m.t.Fatalf("an undo: %v %v", err, out.Failed)
				}
			}
			if diff := m.scene().differs(scenes[i]); diff != "" {
				m.t.Fatalf("after the undo %s", diff)
			}
			m.maybeRestarts()
			if diff := m.scene().differs(scenes[i]); diff != "" {
				m.t.Fatalf("after the undo and a restart %s", diff)
			}
		}
	})
}

// Exchanges of names may be nested: a note leaves or enters a folder that is exchanged, too. The acceptance of all of
// them, in any order, gives some nodes temporary names.
func TestUndoOfNestedExchanges(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		m := newProposalMachine(t, r)
		defer func() { m.stop() }()
		for range randomtest.Between(m.r, 2, 3) {
			m.agentExchanges()
		}
		before := m.scene()
		ids := m.waiting()
		if len(ids) == 0 {
			return
		}
		if out, err := m.ws.Decide(m.t.Context(), shuffled(m.r, ids), model.Accepted, person); err != nil || len(out.Failed) > 0 {
			m.t.Fatalf("accepting all: %v %v", err, out.Failed)
		}
		m.maybeRestarts()
		if out, err := m.ws.Undo(m.t.Context(), "", person); err != nil || len(out.Failed) > 0 {
			m.t.Fatalf("the undo: %v %v", err, out.Failed)
		}
		if diff := m.scene().differs(before); diff != "" {
			m.t.Fatalf("after the undo %s", diff)
		}
	})
}

// Whatever agents do and people reject altogether leaves no trace in the vault, and all of it can
// be had back.

// agentCreatesMore makes a note, with or without front matter, in a folder that may be new.
func (m *proposalMachine) agentCreatesMore() {
	p := m.aName(false)
	if m.r.IntN(2) > 0 {
		p = p.Dir().Join("new").Join(p.Base())
	}
	fronts := []string{"", "---\na: 1\n---\n", "---\na: [[A]]\n---\n\n"}
	if p.Base() != "X.md" {
		fronts = fronts[:1] // there may be a note that is to be deleted, and its front matter changes at once
	}
	text := randomtest.Pick(m.r, fronts...) + strings.Replace(m.word(), "\n", "own\n", 1)
	if _, err := m.ws.Create(m.t.Context(), p, bridge.Write{Text: text, By: agent}); err != nil && !tolerated(err) {
		m.t.Fatal(err)
	}
}

// agentMovesAway moves something into a folder that is made for it.
func (m *proposalMachine) agentMovesAway() {
	from := m.aPath()
	dir := from.Dir().Join("made")
	err := m.ws.Mkdir(m.t.Context(), dir, bridge.ChangeRequest{Author: agent})
	if err == nil {
		_, err = m.ws.Rename(m.t.Context(), from, dir.Join(from.Base()), bridge.ChangeRequest{Author: agent})
	}
	if err != nil && !tolerated(err) {
		m.t.Fatal(err)
	}
}

// agentAppends writes more at the end of a note.
func (m *proposalMachine) agentAppends() {
	p := m.aPath()
	if m.paths()[p] {
		return
	}
	v, err := m.ws.Open(m.t.Context(), p)
	if err == nil {
		_, err = m.ws.Write(m.t.Context(), p, bridge.Write{Base: v, Text: strings.TrimSuffix(v.Text(), "\n") + "\nmore\n", By: agent})
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// agentLinks writes a link to something that is shown at the end of a note.
func (m *proposalMachine) agentLinks() {
	p, to := m.aPath(), m.aPath()
	if m.paths()[p] || m.paths()[to] {
		return
	}
	_, rel := to.Split()
	name := strings.TrimSuffix(randomtest.Pick(m.r, rel, to.Base()), ".md")
	v, err := m.ws.Open(m.t.Context(), p)
	if err == nil {
		_, err = m.ws.Write(m.t.Context(), p, bridge.Write{Base: v, Text: strings.TrimSuffix(v.Text(), "\n") + "\nlink [[" + name + "]]\n", By: agent})
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// wordsStay checks that the notes of the vault are as they were but for what is suggested in them.
func (m *proposalMachine) wordsStay(untouched scene) {
	for rel, text := range untouched.vault {
		if text == "/" {
			continue
		}
		got := diffwrap.Original(m.src.Person(m.t).Content(rel))
		if strings.TrimSuffix(got, "\n") != strings.TrimSuffix(text, "\n") { // text after front matter begins a line
			m.t.Fatalf("%s was %q and is %q without its suggestions", rel, text, got)
		}
	}
}

// moved says whether an agent has moved a note of its own: the next process does not know its folders
// for an agent's.
func moved(made, at map[string]model.Path) bool {
	for word, p := range made {
		if at[word] != p && at[word] != "" {
			return true
		}
	}
	return false
}

// acceptsAndUndoes accepts some of what waits, or all, and takes that back.
func (m *proposalMachine) acceptsAndUndoes() {
	ids := m.waiting()
	if m.r.IntN(2) > 0 {
		ids = slices.DeleteFunc(ids, func(string) bool { return m.r.IntN(2) > 0 })
	}
	out, err := m.ws.Decide(m.t.Context(), ids, model.Accepted, model.Author{Name: "person"})
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Logf("accepted %d of %d, failed %v: now %+v", out.Notes, len(ids), out.Failed, m.scene())
	if len(out.Decided)+len(out.Proposals) == 0 {
		return
	}
	if out, err = m.ws.Undo(m.t.Context(), out.Batch, model.Author{Name: "person"}); err != nil || len(out.Failed) > 0 {
		m.t.Fatalf("an undo of an acceptance: %v %v", err, out.Failed)
	}
}

// hasEmptyFolder says whether a folder is shown with nothing in it.
func (s scene) hasEmptyFolder() bool {
	full := make(map[model.Path]bool)
	for p := range s.shown {
		full[p.Dir()] = true
	}
	for p, text := range s.shown {
		if text == "/" && !full[p] {
			return true
		}
	}
	return false
}

func TestRejectingAllLeavesNoTrace(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		m := newLinkedMachine(t, r)
		defer func() { m.stop() }()
		m.src.Person(t).Save("Index.md", "index [[A]] [[B|bee]] [[C]] [e](d/e/E.md) [[f/F]]\n\n[r]: A.md\n[s]: <d/C.md> \"T\"\n") // links in front matter change at once
		m.src.Person(t).Save("Bare.md", randomtest.Pick(m.r, "---\na: wordBare\n---\n", "---\na: wordBare\n---", "wordBare, no end"))
		m.settle()
		untouched := m.scene()
		acts := map[string]func(){
			"moves": m.agentMoves, "exchanges": m.agentExchanges, "deletes": m.agentDeletes,
			"creates": m.agentCreatesMore, "moves away": m.agentMovesAway, "appends": m.agentAppends, "links": m.agentLinks,
		}
		names := slices.Sorted(maps.Keys(acts))
		made := make(map[string]model.Path) // where agents made notes
		for range randomtest.Between(m.r, 1, 6) {
			acts[randomtest.Pick(m.r, names...)]()
			m.wordsStay(untouched)
			at, _ := m.vault()
			for word, p := range at {
				if m.wasPending(word) && made[word] == "" {
					made[word] = p
				}
			}
		}
		worked := m.scene()
		m.t.Logf("before: %+v", worked)
		if worked.hasEmptyFolder() {
			return // nothing in it can be rejected
		}
		restarts := func() {}
		if at, _ := m.vault(); !moved(made, at) {
			restarts = m.maybeRestarts
		}
		restarts()
		if m.r.IntN(2) > 0 {
			m.acceptsAndUndoes()
			restarts()
			if diff := m.scene().differs(worked); diff != "" {
				m.t.Fatalf("after the undo of an acceptance %s", diff)
			}
		}
		batches := 0
		for ids := m.waiting(); len(ids) > 0; ids = m.waiting() { // what waits in a note comes after its deletion
			out, err := m.ws.Decide(m.t.Context(), ids, model.Rejected, model.Author{Name: "person"})
			if err != nil || len(out.Failed) > 0 {
				m.t.Fatalf("rejecting all: %v %v", err, out.Failed)
			}
			batches++
		}
		if diff := m.scene().differs(untouched); diff != "" {
			m.t.Fatalf("after rejecting all %s", diff)
		}
		m.maybeRestarts()
		for range batches {
			if out, err := m.ws.Undo(m.t.Context(), "", model.Author{Name: "person"}); err != nil || len(out.Failed) > 0 {
				m.t.Fatalf("an undo: %v %v", err, out.Failed)
			}
		}
		if diff := m.scene().differs(worked); diff != "" {
			m.t.Fatalf("after the undo %s", diff)
		}
	})
}
