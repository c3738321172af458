package tests

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// waiting is a pending suggestion as the command line lists it.
type waiting struct {
	ID, Kind, Old, New, Author string
	Line                       int
	Time                       time.Time
}

// listWaiting lists what is pending, in order.
func listWaiting(t *testing.T, s *sandbox, vault string) (list []waiting) {
	t.Helper()
	out := s.run(t, "suggestions", "list", "--json", vault)
	if err := json.Unmarshal([]byte(out.stdout), &list); err != nil || out.code != 0 {
		t.Fatalf("list: %v, exit %d: %s", err, out.code, out.stderr)
	}
	return list
}

// saveOnMount writes a note on the mount, as a program does.
func saveOnMount(t *testing.T, m *mount, name, text string) {
	t.Helper()
	if err := os.WriteFile(m.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// One paragraph becomes two, in two suggestions side by side: both are accepted and
// taken back one after the other, in either order, over a restart of the mount.
func TestUndoOfNeighbours(t *testing.T) {
	const before = "# T\n\nThe old river. Apples fall.\n\nLast line.\n"
	const after = "# T\n\nA new stream.\n\nA close, with bold.\n\nLast line.\n"
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		s := newSandbox(t)
		m := s.mount(t, s.vault(t, "Notes", map[string]string{"n.md": before}))
		saveOnMount(t, m, "n.md", after)
		pending := readFile(t, m.vaultPath("n.md"))
		list := listWaiting(t, s, m.vault)
		if len(list) != 2 {
			t.Fatalf("pending: %+v", list)
		}
		var batches []string
		for _, q := range list {
			batches = append(batches, s.decide(t, "accept", q.ID, m.vault).Batch)
		}
		m.checkWhole(t, "accepted", "n.md", after, after)
		for i, k := range order {
			if i == 1 {
				m.kill(t)
				m = s.mountAt(t, m.vault, s.mkdir(t, "again"))
			}
			s.decide(t, "undo", batches[k], m.vault)
		}
		m.checkWhole(t, "undone", "n.md", before, after)
		checkText(t, "the note", readFile(t, m.vaultPath("n.md")), pending)
		if again := listWaiting(t, s, m.vault); !slices.Equal(again, list) {
			t.Errorf("pending again: %+v, want %+v", again, list)
		}
		s.decide(t, "reject", "--all", m.vault)
		m.checkWhole(t, "rejected", "n.md", before, before)
	}
}

// Two paragraphs are added, the second is rejected, the agent writes others there, and
// the rejection is taken back.
func TestUndoBesideAWritingAgent(t *testing.T) {
	const before = "# T\n\nOne paragraph.\n"
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Notes", map[string]string{"n.md": before}))
	saveOnMount(t, m, "n.md", before+"\nAdded near river\n")
	saveOnMount(t, m, "n.md", before+"\nAdded near river\n\nAdded runs water\n")
	list := listWaiting(t, s, m.vault)
	s.decide(t, "reject", list[len(list)-1].ID, m.vault)
	saveOnMount(t, m, "n.md", before+"\nshed the fall tea past water.\n\nClose past.\n")
	s.decide(t, "undo", m.vault)
	m.checkWhole(t, "undone", "n.md", before, before+"\nshed the fall tea past water.\n\nClose past.\n\nAdded runs water\n")
	s.decide(t, "reject", "--all", m.vault)
	m.checkWhole(t, "rejected", "n.md", before, before)
}

// What people have deleted since stays away and is named; an undo of which nothing can
// come back changes nothing and says why.
func TestUndoNamesWhatStaysAway(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Notes", map[string]string{"n.md": "the brown fox\n", "o.md": "h\n\nthe brown fox ran\n\nt\n"}))
	saveOnMount(t, m, "n.md", "the red fox\n")
	s.decide(t, "accept", "--all", m.vault)
	personWrites(t, m, "n.md", "the  fox\n", "the  fox\n")
	undone := s.decide(t, "undo", m.vault)
	checkText(t, "the note", readFile(t, m.vaultPath("n.md")), "the {--brown--} fox\n")
	if len(undone.Away) != 1 || undone.Away[0].Text != "red" || undone.Away[0].Why != "deleted by people since" {
		t.Errorf("undo says %+v", undone)
	}

	saveOnMount(t, m, "o.md", "h\n\nthe fox ran\n\nt\n")
	list := listWaiting(t, s, m.vault)
	s.decide(t, "accept", list[len(list)-1].ID, m.vault)
	personWrites(t, m, "o.md", "h\n\nt\n", "h\n\nt\n")
	out := s.run(t, "suggestions", "undo", m.vault)
	if out.code == 0 || !strings.Contains(out.stderr, "the text around it has been deleted") {
		t.Errorf("undo of what is covered: exit %d, %s%s", out.code, out.stdout, out.stderr)
	}
	checkText(t, "the note", readFile(t, m.vaultPath("o.md")), "h\n\nt\n")
}

// A word that a person types before an accepted replacement stays beside it, whatever
// becomes of that.
func TestAWordTypedBeforeAnAcceptedReplacement(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Notes", map[string]string{"n.md": "one two three\n"}))
	saveOnMount(t, m, "n.md", "one TWO three\n")
	s.decide(t, "accept", "--all", m.vault)
	personWrites(t, m, "n.md", "one my TWO three\n", "one my TWO three\n")
	s.decide(t, "undo", m.vault)
	checkText(t, "undone", readFile(t, m.vaultPath("n.md")), "one my {--two--}{++TWO++} three\n")
	s.decide(t, "reject", "--all", m.vault)
	m.checkWhole(t, "rejected", "n.md", "one my two three\n", "one my two three\n")
}

// What a person types inside of an agent's marks is shown to agents, and stays whatever
// is decided.
func TestPersonsWordsInAMark(t *testing.T) {
	for _, verdict := range []string{"accept", "reject"} {
		s := newSandbox(t)
		m := s.mount(t, s.vault(t, "Notes", map[string]string{"a.md": "a\n", "d.md": "x beta y\n"}))
		saveOnMount(t, m, "a.md", "a AGENT text\n")
		saveOnMount(t, m, "d.md", "x y\n")
		for name, shown := range map[string]string{"a.md": "a AGENTHUM text\n", "d.md": "x HUMy\n"} {
			raw := readFile(t, m.vaultPath(name))
			personWrites(t, m, name, strings.NewReplacer("AGENT", "AGENTHUM", "beta", "beHUMta").Replace(raw), shown)
		}
		if list := listWaiting(t, s, m.vault); len(list) != 2 || list[0].New != " AGENT text" || list[1].Old != "beta " {
			t.Errorf("pending: %+v", list)
		}
		s.decide(t, verdict, "--all", m.vault)
		want := map[string][2]string{"accept": {"a AGENTHUM text\n", "x HUMy\n"}, "reject": {"aHUM\n", "x beHUMta y\n"}}[verdict]
		checkText(t, "the addition after "+verdict, readFile(t, m.vaultPath("a.md")), want[0])
		checkText(t, "the deletion after "+verdict, readFile(t, m.vaultPath("d.md")), want[1])
	}
}

// A suggestion keeps its id and time over a rename of its note and a restart.
func TestSuggestionsKeepTheirIDs(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Notes", map[string]string{"n.md": "one two three\n"}), "--structure", "direct")
	saveOnMount(t, m, "n.md", "one TWO three\n")
	list := listWaiting(t, s, m.vault)
	if err := os.Rename(m.path("n.md"), m.path("m.md")); err != nil {
		t.Fatal(err)
	}
	if renamed := listWaiting(t, s, m.vault); !slices.Equal(renamed, list) {
		t.Errorf("after a rename: %+v, want %+v", renamed, list)
	}
	m.stop(t)
	if later := listWaiting(t, s, m.vault); !slices.Equal(later, list) {
		t.Errorf("after a restart: %+v, want %+v", later, list)
	}
}

// personWrites saves a note in the vault, and waits until the mount shows it.
func personWrites(t *testing.T, m *mount, name, raw, shown string) {
	t.Helper()
	temp := filepath.Join(m.s.dir, "saved")
	if err := os.WriteFile(temp, []byte(raw), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, m.vaultPath(name)); err != nil {
		t.Fatal(err)
	}
	waitForView(t, m, name, shown)
}

// Where the deletion of a note is proposed, an undo of what was decided there works;
// where it was accepted, the undo says which one comes first.
func TestUndoInADeletedNote(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Notes", map[string]string{"n.md": "a b c d\n"}))
	saveOnMount(t, m, "n.md", "a X c d\n")
	first := s.decide(t, "accept", "--all", m.vault)
	saveOnMount(t, m, "n.md", "a X c Y\n")
	second := s.decide(t, "accept", "--all", m.vault)
	if err := os.Remove(m.path("n.md")); err != nil {
		t.Fatal(err)
	}
	s.decide(t, "undo", second.Batch, m.vault)
	checkText(t, "in the vault", readFile(t, m.vaultPath("n.md")), "a X c {--d--}{++Y++}\n")
	deleted := s.decide(t, "accept", "--all", m.vault)
	out := s.run(t, "suggestions", "undo", first.Batch, m.vault)
	if want := "'relayfs suggestions undo " + deleted.Batch + "' brings it back first"; out.code == 0 || !strings.Contains(out.stderr, want) {
		t.Errorf("undo in a note that was deleted: exit %d, %s%s, want %q", out.code, out.stdout, out.stderr, want)
	}
	s.decide(t, "undo", deleted.Batch, m.vault)
	s.decide(t, "undo", first.Batch, m.vault)
	checkText(t, "in the vault again", readFile(t, m.vaultPath("n.md")), "a {--b--}{++X++} c {--d--}{++Y++}\n")
}
