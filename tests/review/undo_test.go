package review

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// waiting is a pending suggestion as the command line lists it.
type waiting struct {
	ID, Kind, Old, New, Author string
	Line                       int
	Time                       time.Time
}

// listWaiting lists what is pending, in order.
func listWaiting(t *testing.T, s *harness.Sandbox, vault string) (list []waiting) {
	t.Helper()
	out := s.Run(t, "suggestions", "list", "--json", vault)
	if err := json.Unmarshal([]byte(out.Stdout), &list); err != nil || out.Code != 0 {
		t.Fatalf("list: %v, exit %d: %s", err, out.Code, out.Stderr)
	}
	return list
}

// saveOnMount writes a note on the mount, as a program does.
func saveOnMount(t *testing.T, m *harness.Mount, name, text string) {
	t.Helper()
	if err := harness.WriteAll(m.Path(name), []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// One paragraph becomes two, in two suggestions side by side: both are accepted and
// taken back one after the other, in either order, over a restart of the mount.
func TestUndoOfNeighbours(t *testing.T) {
	t.Parallel()
	const before = "# T\n\nThe old river. Apples fall.\n\nLast line.\n"
	const after = "# T\n\nA new stream.\n\nA close, with bold.\n\nLast line.\n"
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		s := harness.NewSandbox(t)
		m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"n.md": before}))
		saveOnMount(t, m, "n.md", after)
		pending := harness.ReadFile(t, m.VaultPath("n.md"))
		list := listWaiting(t, s, m.Vault)
		if len(list) != 2 {
			t.Fatalf("pending are %d, want 2: %+v", len(list), list)
		}
		var batches []string
		for _, q := range list {
			batches = append(batches, s.Decide(t, "accept", q.ID, m.Vault).Batch)
		}
		m.CheckSuggested(t, "n.md", after, after)
		for i, k := range order {
			if i == 1 {
				m.Kill(t)
				m = s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
			}
			s.Decide(t, "undo", batches[k], m.Vault)
		}
		m.CheckSuggested(t, "n.md", before, after)
		harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("n.md")), pending)
		if again := listWaiting(t, s, m.Vault); !slices.Equal(again, list) {
			t.Errorf("pending again: %+v, want %+v", again, list)
		}
		s.Decide(t, "reject", "--all", m.Vault)
		m.CheckSuggested(t, "n.md", before, before)
	}
}

// Two paragraphs are added, the second is rejected, the agent writes others there, and
// the rejection is taken back.
func TestUndoBesideAWritingAgent(t *testing.T) {
	t.Parallel()
	const before = "# T\n\nOne paragraph.\n"
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"n.md": before}))
	saveOnMount(t, m, "n.md", before+"\nAdded near river\n")
	saveOnMount(t, m, "n.md", before+"\nAdded near river\n\nAdded runs water\n")
	list := listWaiting(t, s, m.Vault)
	s.Decide(t, "reject", list[len(list)-1].ID, m.Vault)
	saveOnMount(t, m, "n.md", before+"\nshed the fall tea past water.\n\nClose past.\n")
	s.Decide(t, "undo", m.Vault)
	m.CheckSuggested(t, "n.md", before, before+"\nshed the fall tea past water.\n\nClose past.\n\nAdded runs water\n")
	s.Decide(t, "reject", "--all", m.Vault)
	m.CheckSuggested(t, "n.md", before, before)
}

// What people have deleted since stays away and is named; an undo of which nothing can
// come back changes nothing and says why.
func TestUndoNamesWhatStaysAway(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"n.md": "the brown fox\n", "o.md": "h\n\nthe brown fox ran\n\nt\n"}))
	saveOnMount(t, m, "n.md", "the red fox\n")
	s.Decide(t, "accept", "--all", m.Vault)
	personWrites(t, m, "n.md", "the  fox\n", "the  fox\n")
	undone := s.Decide(t, "undo", m.Vault)
	harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("n.md")), "the {--brown--} fox\n")
	if len(undone.Away) != 1 || undone.Away[0].Text != "red" || undone.Away[0].Why != "deleted by users since" {
		t.Errorf("undo says %+v", undone)
	}

	saveOnMount(t, m, "o.md", "h\n\nthe fox ran\n\nt\n")
	list := listWaiting(t, s, m.Vault)
	s.Decide(t, "accept", list[len(list)-1].ID, m.Vault)
	personWrites(t, m, "o.md", "h\n\nt\n", "h\n\nt\n")
	out := s.Run(t, "suggestions", "undo", m.Vault)
	if out.Code == 0 || !strings.Contains(out.Stderr, "the text around it has been deleted") {
		t.Errorf("undo of what is covered: exit %d, %s%s", out.Code, out.Stdout, out.Stderr)
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, m.VaultPath("o.md")), "h\n\nt\n")
}

// A word that a person types before an accepted replacement stays beside it, whatever
// becomes of that.
func TestAWordTypedBeforeAnAcceptedReplacement(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"n.md": "one two three\n"}))
	saveOnMount(t, m, "n.md", "one TWO three\n")
	s.Decide(t, "accept", "--all", m.Vault)
	personWrites(t, m, "n.md", "one my TWO three\n", "one my TWO three\n")
	s.Decide(t, "undo", m.Vault)
	harness.CheckText(t, "undone", harness.ReadFile(t, m.VaultPath("n.md")), "one my {--two--}{++TWO++} three\n")
	s.Decide(t, "reject", "--all", m.Vault)
	m.CheckSuggested(t, "n.md", "one my two three\n", "one my two three\n")
}

// What a person types inside of an agent's marks is shown to agents, and stays whatever
// is decided.
func TestPersonsWordsInAMark(t *testing.T) {
	t.Parallel()
	for _, verdict := range []string{"accept", "reject"} {
		s := harness.NewSandbox(t)
		m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"a.md": "a\n", "d.md": "x beta y\n"}))
		saveOnMount(t, m, "a.md", "a AGENT text\n")
		saveOnMount(t, m, "d.md", "x y\n")
		for name, shown := range map[string]string{"a.md": "a AGENTHUM text\n", "d.md": "x HUMy\n"} {
			raw := harness.ReadFile(t, m.VaultPath(name))
			personWrites(t, m, name, strings.NewReplacer("AGENT", "AGENTHUM", "beta", "beHUMta").Replace(raw), shown)
		}
		if list := listWaiting(t, s, m.Vault); len(list) != 2 || list[0].New != " AGENT text" || list[1].Old != "beta " {
			t.Errorf("pending: %+v", list)
		}
		s.Decide(t, verdict, "--all", m.Vault)
		want := map[string][2]string{"accept": {"a AGENTHUM text\n", "x HUMy\n"}, "reject": {"aHUM\n", "x beHUMta y\n"}}[verdict]
		harness.CheckText(t, "the addition after "+verdict, harness.ReadFile(t, m.VaultPath("a.md")), want[0])
		harness.CheckText(t, "the deletion after "+verdict, harness.ReadFile(t, m.VaultPath("d.md")), want[1])
	}
}

// A suggestion keeps its id and time over a rename of its note and a restart.
func TestSuggestionsKeepTheirIDs(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"n.md": "one two three\n"}), "--structure", "direct")
	saveOnMount(t, m, "n.md", "one TWO three\n")
	list := listWaiting(t, s, m.Vault)
	if err := os.Rename(m.Path("n.md"), m.Path("m.md")); err != nil {
		t.Fatal(err)
	}
	if renamed := listWaiting(t, s, m.Vault); !slices.Equal(renamed, list) {
		t.Errorf("after a rename: %+v, want %+v", renamed, list)
	}
	m.Stop(t)
	if later := listWaiting(t, s, m.Vault); !slices.Equal(later, list) {
		t.Errorf("after a restart: %+v, want %+v", later, list)
	}
}

// personWrites saves a note in the vault, and waits until the mount shows it.
func personWrites(t *testing.T, m *harness.Mount, name, raw, shown string) {
	t.Helper()
	temp := filepath.Join(m.Sandbox.Dir, "saved")
	if err := os.WriteFile(temp, []byte(raw), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, m.VaultPath(name)); err != nil {
		t.Fatal(err)
	}
	harness.FileBecomes(t, m.Path(name), shown)
}

// Where the deletion of a note is proposed, an undo of what was decided there works;
// where it was accepted, the undo says which one comes first.
func TestUndoInADeletedNote(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Notes", map[string]string{"n.md": "a b c d\n"}))
	saveOnMount(t, m, "n.md", "a X c d\n")
	first := s.Decide(t, "accept", "--all", m.Vault)
	saveOnMount(t, m, "n.md", "a X c Y\n")
	second := s.Decide(t, "accept", "--all", m.Vault)
	if err := os.Remove(m.Path("n.md")); err != nil {
		t.Fatal(err)
	}
	s.Decide(t, "undo", second.Batch, m.Vault)
	harness.CheckText(t, "in the vault", harness.ReadFile(t, m.VaultPath("n.md")), "a X c {--d--}{++Y++}\n")
	deletion := s.Suggestions(t, m.Vault, "--kind", "delete")[0].ID
	deleted := s.Decide(t, "accept", "--all", m.Vault)
	out := s.Run(t, "suggestions", "undo", first.Batch, m.Vault)
	if want := "restore it first with 'relayfs suggestions undo " + deletion + "'"; out.Code == 0 || !strings.Contains(out.Stderr, want) {
		t.Errorf("undo in a note that was deleted: exit %d, %s%s, want %q", out.Code, out.Stdout, out.Stderr, want)
	}
	s.Decide(t, "undo", deleted.Batch, m.Vault)
	s.Decide(t, "undo", first.Batch, m.Vault)
	harness.CheckText(t, "in the vault again", harness.ReadFile(t, m.VaultPath("n.md")), "a {--b--}{++X++} c {--d--}{++Y++}\n")
}

// What a person brings back after its deletion is the file that it was, with its time, and
// nothing of it stays in the trash. Notes that have exchanged their names have them again.
func TestUndoneNamesAreAsBefore(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := map[string]string{"A.md": "the first\n", "B.md": "the second\n", "Gone.md": "gone\n", "Index.md": "[[A]] and [[B]]\n"}
	vault := s.Vault(t, "Vault", files)
	deleted := filepath.Join(vault, "Gone.md")
	old := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(deleted, old, old); err != nil {
		t.Fatal(err)
	}
	m := s.Mount(t, vault)
	for _, r := range [][2]string{{"A.md", "C.md"}, {"B.md", "A.md"}, {"C.md", "B.md"}} {
		if err := os.Rename(m.Path(r[0]), m.Path(r[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(m.Path("Gone.md")); err != nil {
		t.Fatal(err)
	}
	waits := harness.Gists(s.Suggestions(t, vault))
	for _, verdict := range []string{"accept", "reject"} {
		s.Decide(t, verdict, "--all", vault)
		s.Decide(t, "undo", vault)
		if got := harness.Gists(s.Suggestions(t, vault)); !slices.Equal(got, waits) {
			t.Errorf("after %s and undo there waits %q, want %q", verdict, got, waits)
		}
		for _, name := range []string{"A.md", "B.md", "Gone.md"} {
			harness.CheckText(t, name+" after "+verdict+" and undo", harness.ReadFile(t, filepath.Join(vault, name)), files[name])
		}
		harness.CheckText(t, "A.md on the mount", harness.ReadFile(t, m.Path("A.md")), files["B.md"])
		if info, err := os.Stat(deleted); err != nil || !info.ModTime().Equal(old) {
			t.Errorf("Gone.md is of %v, %v, want %v", info, err, old)
		}
		if left, err := os.ReadDir(filepath.Join(vault, ".trash")); err == nil && len(left) > 0 {
			t.Errorf("left in the trash is %v", left)
		}
	}
}
