package bridge_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// The law of documents over a stop: a document belongs to its file. While relayfs is stopped, a user moves, exchanges,
// edits, replaces and deletes files. Afterwards each document whose file exists has its suggestions, with their IDs,
// authors, sessions and times, and its pending rename or deletion, at the new path of its file. The proposals of the other
// documents have ended, with a line in the journal and without a pending link rewrite.
func TestDocumentsFollowTheirFilesOverAStop(t *testing.T) {
	randomtest.Check(t, 10, func(t testing.TB, r *rand.Rand) {
		s := newStop(t, r)
		for _, name := range stopNotes {
			s.agents(name)
		}
		for range 1 + r.IntN(2) {
			s.round()
		}
		s.decides()
	})
}

var stopNotes = []string{"A.md", "B.md", "C.md", "Sub/D.md", "Sub/E.md"}

const stopLinks = "Links.md"

type stop struct {
	*onDisk
	r     *rand.Rand
	at    map[string]string // names of the notes at the beginning, by the paths of their files now; "" for other files
	begun map[string]string // at when the stop began
	fresh map[string]bool   // files that are known by their texts only, and copied files: no further step changes them
	typed map[string]string // lines that the user has added, by the first name of the note
	n     int
	log   []string
}

func newStop(t testing.TB, r *rand.Rand) *stop {
	files := map[string]string{stopLinks: "Links\n"}
	s := &stop{r: r, at: make(map[string]string), typed: make(map[string]string)}
	for _, name := range stopNotes {
		letter := strings.TrimSuffix(path.Base(name), ".md")
		files[name] = s.text(name)
		files[stopLinks] += fmt.Sprintf("To [[%s]] here.\n", letter)
		s.at[name] = name
	}
	s.onDisk = newOnDisk(t, files)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the steps:\n%s", strings.Join(s.log, "\n"))
		}
	})
	return s
}

// text is the first text of a note. The texts share many words.
func (s *stop) text(name string) string {
	return fmt.Sprintf("# A note\n\nword%[1]s text about apples, and about other%[1]s\n", strings.TrimSuffix(path.Base(name), ".md"))
}

func (s *stop) note(format string, args ...any) { s.log = append(s.log, fmt.Sprintf(format, args...)) }

func (s *stop) name(format string) string {
	s.n++
	return fmt.Sprintf(format, s.n)
}

// agents lets agents suggest a change of the note, or propose to rename or delete it, or both. Otherwise the note would
// have no document, and a user who moves it over another note would save that note.
func (s *stop) agents(name string) {
	at := model.Path("Notes/" + name)
	by := randomtest.Pick(s.r, ann, bob)
	change := s.r.IntN(8)
	if change > 1 {
		replaceIn(s.t, s.ws, at, by, "word", "WORD")
		s.note("%s writes in %s", by.Name, name)
	}
	by = randomtest.Pick(s.r, ann, bob)
	switch change {
	case 0, 2, 3:
		to := s.name("New %d.md")
		_, err := s.ws.Rename(s.t.Context(), at, model.Path("Notes/"+to), bridge.ChangeRequest{Author: by})
		s.must(err)
		s.note("%s renames %s to %s", by.Name, name, to)
	case 1, 4:
		_, err := s.ws.Remove(s.t.Context(), at, bridge.ChangeRequest{Author: by})
		s.must(err)
		s.note("%s deletes %s", by.Name, name)
	}
}

// known is what must be known of a document after the stop: its suggestions and proposals.
type known struct {
	suggestions []string // each with the name of the note
	proposals   map[string]string
	links       map[string][]string // the suggestions in Links.md, by the IDs of their proposals
}

func (s *stop) nameAt(p model.Path) string {
	_, rel := p.Split()
	return s.at[rel]
}

func (s *stop) known() known {
	s.t.Helper()
	k := known{proposals: make(map[string]string), links: make(map[string][]string)}
	for _, g := range pendingOf(s.t, s.ws) {
		source, err := s.ws.SourcePath(g.Path)
		s.must(err)
		text := fmt.Sprintf("%s by %s in %s at %v", g.ID, g.Author, g.Session, g.Time)
		name := s.nameAt(source)
		switch {
		case g.Proposal != "":
			k.links[g.Proposal] = append(k.links[g.Proposal], text)
		case name != "":
			k.suggestions = append(k.suggestions, name+": "+text)
		}
	}
	list, err := s.ws.Proposals(s.t.Context(), "")
	s.must(err)
	for _, p := range list {
		if name := s.nameAt(p.Path); name != "" {
			k.proposals[p.ID] = fmt.Sprintf("%s of %s to %s by %s", p.Kind, name, p.NewPath.Base(), p.Author)
		} else {
			s.t.Errorf("a proposal for another file: %+v", p)
		}
	}
	slices.Sort(k.suggestions)
	return k
}

// round stops relayfs, changes files, starts relayfs and compares.
func (s *stop) round() {
	s.t.Helper()
	before := s.known()
	s.begun, s.fresh = maps.Clone(s.at), make(map[string]bool)
	s.restarted(func() {
		for range 1 + s.r.IntN(4) {
			s.step()
		}
	})
	for again := range 2 {
		if again > 0 {
			s.restarted(func() {})
		}
		s.compare(before)
	}
}

func (s *stop) compare(before known) {
	s.t.Helper()
	exists := make(map[string]bool)
	for _, name := range s.at {
		exists[name] = true
	}
	want := known{proposals: make(map[string]string), links: make(map[string][]string)}
	for _, text := range before.suggestions {
		if name, _, _ := strings.Cut(text, ":"); exists[name] {
			want.suggestions = append(want.suggestions, text)
		}
	}
	var ended []string
	for id, text := range before.proposals {
		if name := strings.Fields(text)[2]; !exists[name] {
			ended = append(ended, id)
			continue
		}
		want.proposals[id] = text
		if links := before.links[id]; len(links) > 0 {
			want.links[id] = links
		}
	}
	got := s.known()
	if !slices.Equal(got.suggestions, want.suggestions) {
		s.t.Errorf("the suggestions are\n%s\nwant\n%s", strings.Join(got.suggestions, "\n"), strings.Join(want.suggestions, "\n"))
	}
	if !maps.Equal(got.proposals, want.proposals) {
		s.t.Errorf("the proposals are %q, want %q", got.proposals, want.proposals)
	}
	if !maps.EqualFunc(got.links, want.links, slices.Equal) {
		s.t.Errorf("the link rewrites are %q, want %q", got.links, want.links)
	}
	journal, err := s.ws.Journal(1000)
	s.must(err)
	for _, id := range ended {
		if !slices.ContainsFunc(journal, func(e model.JournalEntry) bool {
			return e.Decision != nil && e.Decision.Withdrawn && e.Decision.Proposal != nil && e.Decision.Proposal.ID == id
		}) {
			s.t.Errorf("the journal does not say that %s has ended", id)
		}
	}
}

// step is one change by the user.
func (s *stop) step() {
	list := slices.DeleteFunc(slices.Sorted(maps.Keys(s.at)), func(rel string) bool { return s.fresh[rel] || s.at[rel] == "" })
	if len(list) == 0 {
		return
	}
	a := randomtest.Pick(s.r, list...)
	b := randomtest.Pick(s.r, list...)
	c := randomtest.Pick(s.r, list...)
	move := func(from, to string) {
		s.must(os.MkdirAll(filepath.Dir(s.path(to)), 0o755))
		s.rename(from, to)
		s.at[to] = s.at[from]
		delete(s.at, from)
	}
	line := s.name("Typed %d.\n")
	switch kind := s.r.IntN(11); kind {
	case 0:
		to := s.name("Moved %d.md")
		s.note("moves %s to %s", a, to)
		move(a, to)
	case 1:
		to := s.name("Folder %d/") + path.Base(a)
		s.note("moves %s to %s", a, to)
		move(a, to)
	case 2, 3:
		if a == b || b == c || a == c {
			return
		}
		s.note("exchanges %s, %s and, if it is not 2, %s: %d", a, b, c, kind)
		move(a, "temp")
		move(b, a)
		if kind == 3 {
			move(c, b)
			b = c
		}
		move("temp", b)
	case 4:
		if a == b {
			return
		}
		s.note("moves %s over %s", a, b)
		move(a, b)
	case 5:
		s.note("deletes %s", a)
		s.remove(a)
		delete(s.at, a)
	case 6:
		s.note("deletes %s, and makes another note there", a)
		s.remove(a)
		s.save(a, "Nothing in common whatsoever.\n")
		s.at[a], s.fresh[a] = "", true
	case 7:
		s.note("deletes %s, and makes it again with its text", a)
		text := s.read(a)
		s.remove(a)
		s.save(a, text)
		s.fresh[a] = true
	case 8, 9:
		if kind == 9 && s.begun[a] != s.at[a] {
			return // it would have neither its path nor its inode
		}
		s.note("adds a line to %s, in a new file if it is not 8: %d", a, kind)
		s.typed[s.at[a]] += line
		if kind == 8 {
			s.save(a, s.read(a)+line)
			return
		}
		s.saveAsNew(a, s.read(a)+line)
		s.fresh[a] = true
	case 10:
		to := path.Join(path.Dir(a), strings.ToLower(path.Base(a)))
		if to == a || s.read(to) != "" {
			return
		}
		s.note("moves %s to %s", a, to)
		move(a, to)
	}
}

// vault returns the texts of the files that users see.
func (s *stop) vault() map[string]string {
	files := make(map[string]string)
	root := filepath.Join(s.dir, "vault")
	s.must(filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if !d.IsDir() {
			rel, _ := filepath.Rel(root, p)
			files[rel] = s.read(rel)
		}
		return nil
	}))
	return files
}

// decides accepts everything, undoes that, and rejects everything.
func (s *stop) decides() {
	s.t.Helper()
	all := func() (list []string) {
		proposals, err := s.ws.Proposals(s.t.Context(), "")
		s.must(err)
		for _, p := range proposals {
			list = append(list, p.ID)
		}
		return append(list, ids(pendingOf(s.t, s.ws))...)
	}
	before, pending := s.vault(), all()
	slices.Sort(pending)
	out, err := s.ws.DecideStale(s.t.Context(), all(), model.Accepted, person)
	if err != nil || len(out.Failed) > 0 {
		s.t.Errorf("accepted: %v, %v", err, out.Failed)
	}
	if left := all(); len(left) > 0 {
		s.t.Errorf("accepted, but %q are pending", left)
	}
	if len(pending) > 0 {
		out, err := s.ws.Undo(s.t.Context(), out.Batch, person)
		if err != nil || len(out.Failed) > 0 {
			s.t.Errorf("undone: %v, %v", err, out.Failed)
		}
	}
	after := all()
	slices.Sort(after)
	if got := s.vault(); !maps.Equal(got, before) || !slices.Equal(after, pending) {
		s.t.Errorf("undone: the vault has\n%q and\n%q, want\n%q and\n%q", got, after, before, pending)
	}
	for range 2 { // a rejected deletion shows the other suggestions of the note
		if out, err := s.ws.Decide(s.t.Context(), all(), model.Rejected, person); err != nil || len(out.Failed) > 0 {
			s.t.Errorf("rejected: %v, %v", err, out.Failed)
		}
	}
	got := s.vault()
	for rel, name := range s.at {
		if want := s.text(name) + s.typed[name]; name != "" && got[rel] != want {
			s.t.Errorf("rejected: %s has %q, want %q", rel, got[rel], want)
		}
	}
	if strings.Contains(got[stopLinks], "{") {
		s.t.Errorf("rejected: the links are %q", got[stopLinks])
	}
}
