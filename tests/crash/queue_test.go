package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// place is where the vault has a note and where the mount shows it, "" for nowhere.
// Where the two differ a proposal waits.
type place struct{ home, shown string }

// proposal is the queue's line about a note at that place, "" for none.
func (p place) proposal() string {
	switch p.shown {
	case p.home:
		return ""
	case "":
		return fmt.Sprintf("delete Vault/%s > ", p.home)
	}
	return fmt.Sprintf("rename Vault/%s > Vault/%s", p.home, p.shown)
}

// accepted and rejected are the places of the note once a person has decided.
func (p place) accepted() place { return place{p.shown, p.shown} }
func (p place) rejected() place { return place{p.home, p.home} }

// proposer renames, moves and deletes notes of its own on the mount, and has them
// decided upon.
type proposer struct {
	s     *harness.Sandbox
	vault string
	notes map[string]place // by text
	tried map[string]place // what was under way when the process was killed
	made  int              // names given out
}

// proposerNotes is how many notes it has when a process starts.
const proposerNotes = 8

// restock makes notes in the vault instead of those that are gone.
func (p *proposer) restock(t *testing.T) {
	t.Helper()
	for len(p.notes) < proposerNotes {
		name := p.name()
		text := fmt.Sprintf("proposed %d\n", p.made)
		p.notes[text] = place{name, name}
		harness.WriteFile(t, filepath.Join(p.vault, name), text)
	}
}

// name is one that nothing has had.
func (p *proposer) name() string {
	p.made++
	return fmt.Sprintf("proposals %d/note %d.md", p.made%2, p.made)
}

// goOn acts until stop is closed; an error then is the end of the process.
func (p *proposer) goOn(m *harness.Mount, rng *rand.Rand, stop <-chan struct{}) error {
	for {
		select {
		case <-stop:
			return nil
		default:
		}
		if err := p.act(m, rng); err != nil {
			return err
		}
	}
}

// act does one thing. What it is about is in tried until that is through.
func (p *proposer) act(m *harness.Mount, rng *rand.Rand) error {
	if rng.IntN(6) == 0 {
		return p.decide(rng)
	}
	texts := slices.Sorted(maps.Keys(p.notes))
	text := texts[rng.IntN(len(texts))]
	at := p.notes[text]
	next, err := at, error(nil)
	switch what := rng.IntN(4); {
	case at.shown == "": // written anew: it is that note again
		next.shown = at.home
		p.tried = map[string]place{text: next}
		err = os.WriteFile(m.Path(at.home), []byte(text), 0o644)
	case what == 0 && !p.deleting(): // one at a time: the brake is not what is tested
		next.shown = ""
		p.tried = map[string]place{text: next}
		err = os.Remove(m.Path(at.shown))
	case what == 1 && at.shown != at.home: // back again
		next.shown = at.home
		fallthrough
	default:
		if next == at {
			next.shown = p.name()
		}
		p.tried = map[string]place{text: next}
		err = os.Rename(m.Path(at.shown), m.Path(next.shown))
	}
	if err == nil {
		p.settle()
	}
	return err
}

func (p *proposer) deleting() bool {
	for _, at := range p.notes {
		if at.shown == "" {
			return true
		}
	}
	return false
}

// settle takes over what was tried.
func (p *proposer) settle() {
	for text, at := range p.tried {
		p.notes[text] = at
		if at.home == "" {
			delete(p.notes, text)
		}
	}
	p.tried = nil
}

// decide has some proposals accepted or rejected from another process.
func (p *proposer) decide(rng *rand.Rand) error {
	list, err := listQueue(p.s, p.vault)
	if err != nil {
		return err
	}
	verdict, outcome := "accept", place.accepted
	if rng.IntN(2) == 0 {
		verdict, outcome = "reject", place.rejected
	}
	args := []string{"suggestions", verdict, "--yes"}
	tried := make(map[string]place)
	for text, at := range p.notes {
		for _, q := range list {
			if at.proposal() != "" && at.proposal() == harness.Gists([]harness.Suggestion{q})[0] && rng.IntN(2) == 0 {
				args, tried[text] = append(args, q.ID), outcome(at)
			}
		}
	}
	if len(tried) == 0 {
		return nil
	}
	p.tried = tried
	ctx, cancel := context.WithTimeout(context.Background(), harness.QueueTimeout)
	defer cancel()
	if out, err := p.s.Command(ctx, append(args, p.vault)...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", args, err, out)
	}
	p.settle()
	return nil
}

// listQueue lists a vault's suggestions while its process may be killed.
func listQueue(s *harness.Sandbox, vault string) ([]harness.Suggestion, error) {
	ctx, cancel := context.WithTimeout(context.Background(), harness.QueueTimeout)
	defer cancel()
	out, err := s.Command(ctx, "suggestions", "list", "--json", vault).Output()
	if err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	var list []harness.Suggestion
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("list: %w", err)
	}
	return list, nil
}

// settleAfterCrash finds out whether what was tried was done, and checks that each
// note is in the vault and on the mount once, where it belongs. It returns what the
// queue must say.
func (p *proposer) settleAfterCrash(t *testing.T, m *harness.Mount) (queue []string) {
	t.Helper()
	homes, shown := proposed(t, m.Vault), proposed(t, m.Path(""))
	for text, kept := range p.notes {
		at := place{homes[text], shown[text]}
		if tried, ok := p.tried[text]; at == kept || ok && at == tried {
			p.notes[text] = at
		} else {
			t.Errorf("%q is at %+v after a kill, want %+v or what was under way, %+v", text, at, kept, p.tried)
		}
		delete(homes, text)
		delete(shown, text)
	}
	if len(homes)+len(shown) > 0 {
		t.Errorf("after a kill the vault holds more: %q, and the mount: %q", homes, shown)
	}
	p.tried = nil
	for text, at := range p.notes {
		if at.home == "" {
			delete(p.notes, text)
		} else if line := at.proposal(); line != "" {
			queue = append(queue, line)
		}
	}
	return queue
}

// proposed is where a tree has the proposer's notes, by their texts.
func proposed(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for i := range 2 {
		folder := fmt.Sprintf("proposals %d", i)
		for _, name := range harness.ListFiles(t, filepath.Join(dir, folder)) {
			text := harness.ReadFile(t, filepath.Join(dir, folder, name))
			if other := found[text]; other != "" {
				t.Errorf("%q is at %q and at %q", text, other, name)
			}
			found[text] = filepath.Join(folder, name)
		}
	}
	return found
}

// checkAllAfterCrash is checkAfterCrash, with the person's notes, the proposer's and
// the queue.
func checkAllAfterCrash(t *testing.T, m *harness.Mount, notes map[string]written, p *person, q *proposer, names []string) {
	t.Helper()
	queue := q.settleAfterCrash(t, m)
	names = slices.AppendSeq(slices.Clone(names), maps.Keys(p.texts))
	for _, at := range q.notes {
		names = append(names, at.home)
	}
	slices.Sort(names)
	checkAfterCrash(t, m, notes, names)
	checkQueue(t, m, queue, notes)
	p.check(t, m)
}

// checkQueue compares relayfs suggestions list with the proposals that wait, with the
// marks in the notes, which all have an author, and with what it was before the kill.
func checkQueue(t *testing.T, m *harness.Mount, want []string, notes map[string]written) {
	t.Helper()
	list := m.Sandbox.Suggestions(t, m.Vault)
	checkListed(t, list, notes)
	rest := list
	for name, w := range notes {
		w.listed, rest = listedFor(rest, name)
		notes[name] = w
		raw := harness.ReadFile(t, m.VaultPath(name))
		if !consistsOf(slices.Clone(w.listed), marks.FindAllStringSubmatch(raw, -1)) {
			t.Errorf("after a kill the queue holds\n%q of %s, which is\n%s", w.listed, name, raw)
		}
	}
	if got := harness.Gists(rest); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("the queue after a kill holds\n%q beside the marks of the notes, want\n%q", got, want)
	}
	for _, q := range list {
		if q.Author == "" {
			t.Errorf("nobody is the author of %+v", q)
		}
	}
}

// checkListed compares the suggestions of notes with what they were when they were
// listed last, if the note was not written since: they keep their ids, their parts and
// their authors.
func checkListed(t *testing.T, list []harness.Suggestion, notes map[string]written) {
	t.Helper()
	for name, w := range notes {
		if got, _ := listedFor(list, name); w.listed != nil && !slices.Equal(got, w.listed) {
			t.Errorf("the queue after a restart holds\n%+q of %s, and before it\n%+q", got, name, w.listed)
		}
	}
}

// listedFor parts the suggestions of a note from the rest. The note's are not nil.
func listedFor(list []harness.Suggestion, name string) (of, rest []harness.Suggestion) {
	of = []harness.Suggestion{}
	for _, q := range list {
		switch {
		case q.Path != "Vault/"+name || q.Kind == "rename" || q.Kind == "delete":
			rest = append(rest, q)
		default:
			of = append(of, q)
		}
	}
	return of, rest
}

// marks are those that the writes of TestKillLosesNoWrite leave: a deletion or an addition.
var marks = regexp.MustCompile(`(?s)\{--(.+?)--\}|\{\+\+(.+?)\+\+\}`)

// consistsOf reports whether each mark, in order, is the next part of one of the
// suggestions, and nothing of them is left then. Which marks are one suggestion is
// for the record to say: those that touch need not be, and others may be.
func consistsOf(list []harness.Suggestion, marks [][]string) bool {
	if len(marks) == 0 {
		return !slices.ContainsFunc(list, func(q harness.Suggestion) bool { return q.Old+q.New != "" })
	}
	for i, q := range list {
		left, old := strings.CutPrefix(q.Old, marks[0][1])
		more, new := strings.CutPrefix(q.New, marks[0][2])
		if !old || !new {
			continue
		}
		list[i].Old, list[i].New = left, more
		if consistsOf(list, marks[1:]) {
			return true
		}
		list[i] = q
	}
	return false
}

// writtenAnew finishes a save that was interrupted between the unlink and the new
// file: the note is as it was for people, its deletion waits for them, and to write
// it takes that back.
func writtenAnew(t *testing.T, m *harness.Mount, name string, w written) {
	t.Helper()
	harness.CheckText(t, name+" in the vault", diffwrap.Everything.Accepted(harness.ReadFile(t, m.VaultPath(name))), w.kept)
	line := place{name, ""}.proposal()
	if got := harness.Gists(m.Sandbox.Suggestions(t, m.Vault)); !slices.Contains(got, line) {
		t.Errorf("%s is gone, and the queue holds %q", name, got)
	}
	if err := os.WriteFile(m.Path(name), []byte(w.tried), 0o644); err != nil {
		t.Errorf("written anew: %v", err)
	}
}

// A save that is killed between the unlink and the new file leaves the note as it is
// for people, proposed to be deleted. Its next save is an edit; and a person who
// rejects the deletion has the note on the mount again.
func TestKillBetweenUnlinkAndCreate(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"saved.md": harness.TideTable, "kept.md": harness.TideTable})
	m := s.Mount(t, vault)
	for _, name := range []string{"saved.md", "kept.md"} {
		if err := os.Remove(m.Path(name)); err != nil {
			t.Fatal(err)
		}
	}
	m.Kill(t)
	harness.CheckListing(t, vault, []string{"kept.md", "saved.md"})
	m = s.MountAt(t, vault, m.Dir)
	harness.CheckListing(t, m.Path(""), nil)
	if got, want := harness.Gists(s.Suggestions(t, vault)), []string{"delete Vault/kept.md > ", "delete Vault/saved.md > "}; !slices.Equal(got, want) {
		t.Errorf("the queue after the kill is %q, want %q", got, want)
	}
	after := strings.Replace(harness.TideTable, "six", "seven", 1)
	harness.WriteFile(t, m.Path("saved.md"), after)
	m.CheckSuggested(t, "saved.md", harness.TideTable, after)
	list := s.Suggestions(t, vault)
	if got, want := harness.Gists(list), []string{"delete Vault/kept.md > ", "replacement six > seven"}; !slices.Equal(got, want) {
		t.Fatalf("the queue after the save is %q, want %q", got, want)
	}
	for _, q := range list {
		if q.Kind == "delete" {
			s.DecideOn(t, 0, "reject", q.ID, vault)
		}
	}
	harness.CheckText(t, "the note that was kept", harness.ReadFile(t, m.Path("kept.md")), harness.TideTable)
	m.Stop(t)
}
