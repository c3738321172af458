package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// proposalMachine works on a small vault as agents, as people and as reviewers do,
// in any order, and checks after each step what the workspace shows and what the
// vault has. Each note holds a word of its own by which it is known again.
type proposalMachine struct {
	t     testing.TB
	r     *rand.Rand
	src   *bridgetest.Source
	store *bridgetest.Store
	ws    *bridge.Workspace
	stop  func()

	made    int
	taken   map[string]bool     // the renames whose names were taken before a step
	telling sync.Mutex          // protects mirror while the workspace is at work
	mirror  map[model.Path]bool // what is shown, as the events tell it
}

var agent = model.Author{Name: "agent", Session: "s"}

func newProposalMachine(t testing.TB, r *rand.Rand) *proposalMachine {
	m := &proposalMachine{t: t, r: r, src: bridgetest.NewSource(t), store: bridgetest.NewStore(t)}
	for _, rel := range []string{"A.md", "B.md", "d/C.md", "d/D.md", "d/e/E.md", "f/F.md"} {
		m.src.Person(t).Save(rel, m.word())
	}
	m.start()
	return m
}

func (m *proposalMachine) word() string {
	m.made++
	return fmt.Sprintf("word%d\n", m.made)
}

// start begins a process on what the last one left.
func (m *proposalMachine) start() {
	ws, err := bridge.New(bridge.Options{Roots: []bridge.RootSource{{Name: "V", Source: m.src, Store: m.store}}})
	if err == nil {
		err = ws.Start(m.t.Context())
	}
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ws.Run(ctx) }()
	m.ws = ws
	m.stop = func() { cancel(); <-done }
	m.mirror = make(map[model.Path]bool)
	for p := range m.paths() {
		m.mirror[p] = true
	}
	ws.Subscribe(m.event)
}

func (m *proposalMachine) event(ev model.Event) {
	m.telling.Lock()
	defer m.telling.Unlock()
	switch ev.Kind {
	case model.EventCreated:
		for p := ev.Path; p != "V"; p = p.Dir() {
			m.mirror[p] = true
		}
	case model.EventRemoved:
		maps.DeleteFunc(m.mirror, func(p model.Path, _ bool) bool { return ev.Path.Contains(p) })
	case model.EventRenamed:
		for p := range maps.Clone(m.mirror) {
			if ev.OldPath.Contains(p) {
				delete(m.mirror, p)
				m.mirror[ev.Path+p[len(ev.OldPath):]] = true
			}
		}
	}
}

// paths is everything that is shown, and whether it is a folder.
func (m *proposalMachine) paths() map[model.Path]bool {
	found := make(map[model.Path]bool)
	err := m.ws.Walk(m.t.Context(), "V", func(e bridge.Info) error {
		found[e.Path] = e.Kind == model.KindDir
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return found
}

// words is where each note is shown, by its word.
func (m *proposalMachine) words() map[string]model.Path {
	at := make(map[string]model.Path)
	for p, dir := range m.paths() {
		if dir {
			continue
		}
		v, err := m.ws.Open(m.t.Context(), p)
		if err != nil {
			m.t.Fatalf("open %q: %v", p, err)
		}
		word := wordOf(v.Text())
		if at[word] != "" {
			m.t.Fatalf("%s is shown at %q and %q", word, at[word], p)
		}
		at[word] = p
	}
	return at
}

func wordOf(text string) string {
	i := strings.Index(text, "word")
	if i < 0 {
		return ""
	}
	return strings.SplitN(text[i:], "\n", 2)[0]
}

// vault is where people have each note, by its word, and their folders.
func (m *proposalMachine) vault() (at map[string]model.Path, dirs []string) {
	at = make(map[string]model.Path)
	err := m.src.Scan(m.t.Context(), func(e model.SourceEntry) {
		if e.Dir {
			dirs = append(dirs, e.Rel)
			return
		}
		data, _, err := m.src.Read(m.t.Context(), e.Rel)
		if err != nil {
			m.t.Fatal(err)
		}
		at[wordOf(diffwrap.Accepted(string(data)))] = model.Path("V").Join(e.Rel)
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return at, dirs
}

func (m *proposalMachine) proposals() []model.Proposal {
	list, err := m.ws.Proposals(m.t.Context(), "")
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

func pick[T any](m *proposalMachine, list []T) T {
	if len(list) == 0 {
		m.t.Skip("nothing to pick")
	}
	return randomtest.Pick(m.r, list...)
}

func shuffled[T any](r *rand.Rand, list []T) []T {
	list = slices.Clone(list)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func sortedPaths(paths map[model.Path]bool) []model.Path { return slices.Sorted(maps.Keys(paths)) }

// aPath draws something that is shown.
func (m *proposalMachine) aPath() model.Path {
	return pick(m, sortedPaths(m.paths()))
}

// aName draws a name in a folder that is shown, free or not.
func (m *proposalMachine) aName(dir bool) model.Path {
	folders := []model.Path{"V"}
	for _, p := range sortedPaths(m.paths()) {
		if m.paths()[p] {
			folders = append(folders, p)
		}
	}
	names := []string{"A.md", "B.md", "C.md", "X.md"}
	if dir {
		names = []string{"d", "e", "f", "g"}
	}
	return pick(m, folders).Join(pick(m, names))
}

// tolerated are the refusals that any operation may meet.
func tolerated(err error) bool {
	return slices.ContainsFunc([]error{
		fs.ErrExist, fs.ErrNotExist, model.ErrNotEmpty, model.ErrIsDir, model.ErrNotDir, model.ErrNotNote,
		model.ErrBadName, model.ErrNameTaken, model.ErrDeletionLimit, bridge.ErrNothingToUndo,
	}, func(is error) bool { return errors.Is(err, is) })
}

func (m *proposalMachine) agentMoves() {
	from := m.aPath()
	to := m.aName(m.paths()[from])
	replace := m.r.IntN(2) > 0
	before, _ := m.vault()
	shown := m.words()
	_, err := m.ws.Rename(m.t.Context(), from, to, bridge.ChangeRequest{Author: agent, Replace: replace})
	if err != nil {
		m.refused(err, shown)
		return
	}
	for word, p := range shown {
		if from != to && p == to && from.IsNote() {
			delete(shown, word)
		}
	}
	for word, p := range shown {
		if from.Contains(p) {
			shown[word] = to + p[len(from):]
		}
	}
	m.want(shown, "move")
	m.untouched(before)
}

// untouched checks that the vault has what it had: an agent's own pending notes
// may have been moved or deleted, nothing else.
func (m *proposalMachine) untouched(before map[string]model.Path) {
	after, _ := m.vault()
	for word, p := range before {
		if got := after[word]; got != p && !m.wasPending(word) {
			m.t.Fatalf("%s was at %q in the vault and is at %q", word, p, got)
		}
	}
}

// wasPending says whether the note was made by the agent: such words are in
// additions, or were.
func (m *proposalMachine) wasPending(word string) bool { return strings.HasSuffix(word, "own") }

func (m *proposalMachine) refused(err error, shown map[string]model.Path) {
	if !tolerated(err) {
		m.t.Fatalf("refused: %v", err)
	}
	m.want(shown, "refusal")
}

// want checks what is shown. Where a name has become free, a rename that waited for it is shown, too.
func (m *proposalMachine) want(want map[string]model.Path, after string) {
	waiting := 0
	for _, p := range m.proposals() {
		if m.taken[p.ID] && p.Taken {
			waiting++
		}
	}
	if waiting < len(m.taken) {
		return
	}
	if got := m.words(); !maps.Equal(got, want) {
		m.t.Fatalf("after %s shown:\n%v\nwant:\n%v\nproposals: %+v", after, got, want, m.proposals())
	}
}

func (m *proposalMachine) agentDeletes() {
	p := m.aPath()
	before, _ := m.vault()
	shown := m.words()
	if _, err := m.ws.Remove(m.t.Context(), p, bridge.ChangeRequest{Author: agent}); err != nil {
		m.refused(err, shown)
		return
	}
	maps.DeleteFunc(shown, func(_ string, at model.Path) bool { return at == p })
	m.want(shown, "delete")
	m.untouched(before)
}

func (m *proposalMachine) agentCreates() {
	p := m.aName(false)
	shown := m.words()
	m.made++
	word := fmt.Sprintf("word%down", m.made)
	_, err := m.ws.Create(m.t.Context(), p, bridge.Write{Text: word + "\n", By: agent})
	if err != nil {
		m.refused(err, shown)
		return
	}
	shown[word] = p
	m.want(shown, "create")
}

func (m *proposalMachine) agentMakesFolder() {
	shown := m.words()
	if err := m.ws.Mkdir(m.t.Context(), m.aName(true), bridge.ChangeRequest{Author: agent}); err != nil && !tolerated(err) {
		m.t.Fatal(err)
	}
	m.want(shown, "mkdir")
}

func (m *proposalMachine) agentEdits() {
	shown := m.words()
	word := pick(m, slices.Sorted(maps.Keys(shown)))
	if _, err := m.ws.Write(m.t.Context(), shown[word], bridge.Write{Text: word + "\nedited by an agent\n", By: agent}); err != nil {
		m.t.Fatal(err)
	}
	m.want(shown, "edit")
}

// settle waits until the workspace has heard of what people did.
func (m *proposalMachine) settle() {
	if err := m.src.Settle(m.t.Context()); err != nil {
		m.t.Fatal(err)
	}
}

// personActs changes the vault, or not, if the act is not possible there.
func (m *proposalMachine) personActs() {
	at, dirs := m.vault()
	person := m.src.Person(m.t)
	var files []string
	for _, p := range at {
		_, rel := p.Split()
		files = append(files, rel)
	}
	slices.Sort(files)
	all := append(slices.Clone(files), dirs...)
	target := path.Join(pick(m, append([]string{""}, dirs...)), randomtest.Pick(m.r, "A", "B", "X", "d", "e"))
	switch m.r.IntN(4) {
	case 0:
		person.Remove(pick(m, all))
	case 1:
		from := pick(m, all)
		if slices.Contains(files, from) {
			target += ".md"
		}
		if slices.Contains(all, target) || (model.Path(from)).Contains(model.Path(target)) {
			m.t.Skip("taken")
		}
		person.Rename(from, target)
	case 2:
		if slices.Contains(all, target+".md") {
			m.t.Skip("taken")
		}
		person.Save(target+".md", m.word())
	case 3:
		m.personTypes()
	}
	m.settle()
}

// personTypes has a user change a note of the vault.
func (m *proposalMachine) personTypes() {
	at, _ := m.vault()
	_, rel := at[pick(m, slices.Sorted(maps.Keys(at)))].Split()
	person := m.src.Person(m.t)
	person.Save(rel, person.Content(rel)+"typed\n")
	m.settle()
}

func (m *proposalMachine) decides() {
	list := m.proposals()
	if len(list) == 0 {
		m.t.Skip("nothing to decide")
	}
	verdict := randomtest.Pick(m.r, model.Accepted, model.Rejected)
	var ids []string
	for _, p := range list {
		if m.r.IntN(2) > 0 {
			ids = append(ids, p.ID)
		}
	}
	shown := m.words()
	out, err := m.ws.DecideStale(m.t.Context(), ids, verdict, model.Author{Name: "person"})
	if err != nil {
		m.t.Fatal(err)
	}
	for p, err := range out.Failed {
		if !tolerated(err) {
			m.t.Fatalf("%q: %v", p, err)
		}
	}
	if len(out.Proposals)+len(out.Failed) < len(ids) && len(out.Missing) == 0 && len(out.Failed) == 0 {
		m.t.Fatalf("%d of %d decided, none failed: %+v", len(out.Proposals), len(ids), out)
	}
	if verdict == model.Accepted {
		m.want(shown, "acceptance")
	}
}

// decidesAll accepts or rejects everything: then the vault has what is shown.
func (m *proposalMachine) decidesAll() {
	verdict := randomtest.Pick(m.r, model.Accepted, model.Rejected)
	var ids []string
	taken := false
	for _, p := range m.proposals() {
		ids, taken = append(ids, p.ID), taken || p.Taken
	}
	shown := m.words()
	before, _ := m.vault()
	out, err := m.ws.DecideStale(m.t.Context(), ids, verdict, model.Author{Name: "person"})
	if err != nil || len(out.Failed) > 0 && !(taken && verdict == model.Accepted) {
		m.t.Fatalf("%v %+v", err, out)
	}
	if len(out.Failed) > 0 {
		return
	}
	have, _ := m.vault()
	m.taken = nil
	if verdict == model.Accepted {
		m.want(shown, "accepting everything")
	} else if !maps.Equal(have, before) {
		m.t.Fatalf("rejecting everything changed the vault from %v to %v", before, have)
	}
	m.want(have, "deciding on everything")
}

func (m *proposalMachine) undoes() {
	out, err := m.ws.Undo(m.t.Context(), "", model.Author{Name: "person"})
	if err != nil && !tolerated(err) {
		m.t.Fatal(err)
	}
	_ = out
}

func (m *proposalMachine) restarts() {
	shown, list := m.words(), fmt.Sprintf("%+v", m.proposals())
	m.stop()
	m.start()
	m.want(shown, "restart")
	if got := fmt.Sprintf("%+v", m.proposals()); got != list {
		m.t.Fatalf("proposals after a restart:\n%s\nwant\n%s", got, list)
	}
}

// check holds after every step: each note of the vault is shown once, where the
// vault has it or where a proposal has it, or is proposed to be deleted; and the
// events have told of everything.
func (m *proposalMachine) check() {
	shown := m.words()
	have, _ := m.vault()
	hidden := make(map[model.Path]bool)
	m.taken = make(map[string]bool)
	renamed := make(map[model.Path]model.Path)
	folders := false
	for _, p := range m.proposals() {
		folders = folders || p.Dir
		if p.Kind == model.ProposedDelete {
			hidden[p.Path] = true
		} else if p.Taken {
			m.taken[p.ID] = true // what it is about is shown where it is, in folders that may be shown elsewhere
		} else {
			renamed[p.Path] = p.NewPath
		}
	}
	for word, at := range have {
		p, ok := shown[word]
		if to, isRenamed := renamed[at]; isRenamed && p != to || ok == hidden[at] {
			m.t.Fatalf("%s is at %q in the vault and shown at %q; proposals %+v", word, at, p, m.proposals())
		}
		if _, isRenamed := renamed[at]; !folders && !hidden[at] && !isRenamed && p != at {
			m.t.Fatalf("%s is at %q in the vault and shown at %q without a proposal", word, at, p)
		}
	}
	if len(shown)+len(hidden) < len(have) || len(shown) > len(have) {
		m.t.Fatalf("shown %v\nvault %v\nhidden %v", shown, have, hidden)
	}
	if paths := m.paths(); !slices.Equal(sortedPaths(paths), sortedPaths(m.mirror)) {
		m.t.Fatalf("events tell of\n%v, shown is\n%v", sortedPaths(m.mirror), sortedPaths(paths))
	}
}

func TestProposalsModel(t *testing.T) {
	randomtest.Check(t, 100, func(t testing.TB, r *rand.Rand) {
		m := newProposalMachine(t, r)
		defer func() { m.stop() }()
		randomtest.Repeat(t, r, m.check, map[string]func(){
			"agent moves": m.agentMoves, "agent moves more": m.agentMoves, "agent deletes": m.agentDeletes,
			"agent creates": m.agentCreates, "agent makes a folder": m.agentMakesFolder, "agent edits": m.agentEdits,
			"person acts": m.personActs, "decides": m.decides, "decides all": m.decidesAll, "undoes": m.undoes,
			"restarts": m.restarts,
		})
	})
}
