package owner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// usedVault makes a vault in which ann has suggested and proposed something and a person
// has decided on something, and returns what the queue holds.
func usedVault(t *testing.T, s *harness.Sandbox, name string) (vault string, queue []string) {
	t.Helper()
	files := map[string]string{"Plan.md": "the plan\n", "Gone.md": "gone\n", "Done.md": "done\n"}
	for i := range 20 {
		files[fmt.Sprintf("%s/note %d.md", name, i)] = "note\n"
	}
	vault = s.Vault(t, name, files)
	m := s.Mount(t, vault, "--author", "ann")
	for _, note := range []string{"Plan.md", "Done.md"} {
		if err := harness.WriteAll(m.Path(note), []byte("changed by ann\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(m.Path("Gone.md")); err != nil {
		t.Fatal(err)
	}
	s.DecideOn(t, 0, "accept", harness.IDOf(t, s.Suggestions(t, vault), "Done.md"), vault)
	m.Stop(t)
	queue = authored(t, s, vault)
	if len(queue) != 2 {
		t.Fatalf("queue of %s has %d entries, want 2: %q", vault, len(queue), queue)
	}
	return vault, queue
}

// authored is the queue with its authors, without the vault's name.
func authored(t *testing.T, s *harness.Sandbox, vault string) (lines []string) {
	t.Helper()
	for _, q := range s.Suggestions(t, vault) {
		_, rel, _ := strings.Cut(q.Path, "/")
		lines = append(lines, fmt.Sprintf("%s %s by %q: %s", q.Kind, rel, q.Author, q.New))
	}
	slices.Sort(lines)
	return lines
}

func hasQueue(t *testing.T, s *harness.Sandbox, vault string, want []string) {
	t.Helper()
	if got := authored(t, s, vault); !slices.Equal(got, want) {
		t.Errorf("%s has the queue\n%s\nwant\n%s", vault, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-r", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// A vault that was renamed or moved has its authors, log and proposals yet, and that
// is told once.
func TestMovedVaultKeepsItsState(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault, queue := usedVault(t, s, "Before")
	place := s.Mkdir(t, "elsewhere")
	from := vault
	for _, to := range []string{s.Path("After"), filepath.Join(place, "After"), vault} {
		rename(t, from, to)
		out := s.Run(t, "suggestions", "list", "--json", to)
		if !strings.Contains(out.Stderr, from) || !strings.Contains(out.Stderr, "keeps its authors") || strings.Count(out.Stderr, "\n") != 1 {
			t.Errorf("the first command after the move says %q", out.Stderr)
		}
		hasQueue(t, s, to, queue)
		if again := s.Run(t, "suggestions", "list", to); again.Stderr != "" {
			t.Errorf("the second one says %q", again.Stderr)
		}
		from = to
	}
	m := s.Mount(t, vault)
	m.Stop(t)
	s.DecideOn(t, 0, "undo", vault) // of what a person decided before
	if got := authored(t, s, vault); len(got) != 3 {
		t.Errorf("queue after undo has %d entries, want 3: %q", len(got), got)
	}
}

// A copy takes nothing from the vault that it is of, nor does a vault in the place of
// another one.
func TestCopiedVaultTakesNoState(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault, queue := usedVault(t, s, "Notes")
	copied := s.Path("Copy")
	copyTree(t, vault, copied)
	for _, line := range authored(t, s, copied) {
		if strings.Contains(line, `by "ann"`) || strings.HasPrefix(line, "delete") {
			t.Errorf("the copy has %s", line)
		}
	}
	hasQueue(t, s, vault, queue)

	// Another vault takes the place, and the first one comes after it.
	rename(t, vault, s.Path("Old"))
	s.Vault(t, "Notes", map[string]string{"other.md": "{++of nobody++}\n", "Else/x.md": "x\n"})
	hasQueue(t, s, vault, []string{`addition other.md by "": of nobody`})
	hasQueue(t, s, s.Path("Old"), queue)
	hasQueue(t, s, vault, []string{`addition other.md by "": of nobody`})

	// A new vault, perhaps with the inode of one that was removed, begins anew.
	if err := os.RemoveAll(s.Path("Old")); err != nil {
		t.Fatal(err)
	}
	s.Vault(t, "Fresh", map[string]string{"fresh.md": "{++of nobody++}\n"})
	hasQueue(t, s, s.Path("Fresh"), []string{`addition fresh.md by "": of nobody`})
}

// What may be a vault that was moved, and may be a copy, is told; a command adopts
// the state.
func TestDoubtfulMoveIsAdoptedByHand(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault, queue := usedVault(t, s, "Notes")
	moved := s.Path("Moved here")
	copyTree(t, vault, moved) // as to another disk
	if out := s.Run(t, "adopt", vault, moved); out.Code == 0 || !strings.Contains(out.Stderr, "still exists") {
		t.Errorf("adopting the state of a vault that is there: %+v", out)
	}
	if err := os.RemoveAll(vault); err != nil {
		t.Fatal(err)
	}
	out := s.Run(t, "suggestions", "list", moved)
	_, command, _ := strings.Cut(strings.TrimSpace(out.Stderr), "relayfs adopt ")
	if !strings.Contains(out.Stderr, vault) || !strings.HasSuffix(command, " '"+moved+"'\"") {
		t.Fatalf("nothing is told of the state that is not used: %q", out.Stderr)
	}
	state, _, _ := strings.Cut(command, " ")
	other := s.Path("Other")
	copyTree(t, moved, other)
	long := time.Now().AddDate(0, -4, 0)
	recent, err := os.Stat(state)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(state, long, long); err != nil {
		t.Fatal(err)
	}
	if out := s.Run(t, "suggestions", "list", other); strings.Contains(out.Stderr, "adopt") {
		t.Errorf("a vault that has been gone for months is named: %q", out.Stderr)
	}
	if err := os.Chtimes(state, recent.ModTime(), recent.ModTime()); err != nil {
		t.Fatal(err)
	}
	if out := s.Run(t, "adopt", state, moved); out.Code != 0 {
		t.Fatalf("adopt: %+v", out)
	}
	hasQueue(t, s, moved, queue)
	if out := s.Run(t, "adopt", vault, moved); out.Code == 0 {
		t.Errorf("adopting twice: %+v", out)
	}
	hasQueue(t, s, moved, queue)
}

// A vault that is renamed while it is served belongs to its owner, and goes with its
// state when that has ended.
func TestVaultMovedWhileServed(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault, queue := usedVault(t, s, "Notes")
	m := s.Mount(t, vault)
	after := s.Path("After")
	rename(t, vault, after)
	out := s.Run(t, "suggestions", "list", after)
	if !strings.Contains(out.Stdout+out.Stderr, "Notes") {
		t.Errorf("beside the owner: %+v", out)
	}
	m.Kill(t)
	hasQueue(t, s, after, queue)
}

// A vault by several paths is one vault, and one inside another or on a mount is refused.
func TestNestedVaults(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Outer", map[string]string{"a.md": "{++a++}\n", "Inner/b.md": "b\n"})
	inner := filepath.Join(vault, "Inner")
	link := s.Path("link")
	if err := os.Symlink(inner, link); err != nil {
		t.Fatal(err)
	}
	outerLink := s.Path("outer link")
	if err := os.Symlink(vault, outerLink); err != nil {
		t.Fatal(err)
	}
	refused := func(out harness.Output) {
		t.Helper()
		if out.Code == 0 || !strings.Contains(out.Stderr, "is inside the other") {
			t.Errorf("nested vaults: %+v", out)
		}
	}
	dir := s.Mkdir(t, "mnt")
	refused(s.Run(t, "mount", vault, inner, dir))
	refused(s.Run(t, "mount", link, vault, dir))
	m := s.Mount(t, vault)
	refused(s.Run(t, "mount", inner, dir))
	refused(s.Run(t, "suggestions", "list", link))
	for _, args := range [][]string{{"suggestions", "list", m.Path("")}, {"mount", m.Path("Inner"), dir}} { // the vault as the mount shows it
		harness.CheckRefused(t, s.Run(t, args...), "is already served by")
	}
	if got := authored(t, s, outerLink); len(got) != 1 { // from the owner
		t.Errorf("queue through a symbolic link: %q", got)
	}
	m.Stop(t)
	m = s.MountAt(t, link, dir)
	refused(s.Run(t, "mount", vault, s.Mkdir(t, "mnt2")))
	m.Stop(t)
	s.Mount(t, outerLink).Stop(t)
}
