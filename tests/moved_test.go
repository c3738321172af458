package tests

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// usedVault makes a vault in which ann has suggested and proposed something and a person
// has decided on something, and returns what the queue holds.
func usedVault(t *testing.T, s *sandbox, name string) (vault string, queue []string) {
	t.Helper()
	files := map[string]string{"Plan.md": "the plan\n", "Gone.md": "gone\n", "Done.md": "done\n"}
	for i := range 20 {
		files[fmt.Sprintf("%s/note %d.md", name, i)] = "note\n"
	}
	vault = s.vault(t, name, files)
	m := s.mount(t, vault, "--author", "ann")
	for _, note := range []string{"Plan.md", "Done.md"} {
		if err := writeAll(m.path(note), []byte("changed by ann\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(m.path("Gone.md")); err != nil {
		t.Fatal(err)
	}
	s.decideOn(t, 0, "accept", idOf(t, s.suggestions(t, vault), "Done.md"), vault)
	m.stop(t)
	queue = authored(t, s, vault)
	if len(queue) != 2 {
		t.Fatalf("queue of %s: %q", vault, queue)
	}
	return vault, queue
}

// authored is the queue with its authors, without the vault's name.
func authored(t *testing.T, s *sandbox, vault string) (lines []string) {
	t.Helper()
	for _, q := range s.suggestions(t, vault) {
		_, rel, _ := strings.Cut(q.Path, "/")
		lines = append(lines, fmt.Sprintf("%s %s by %q: %s", q.Kind, rel, q.Author, q.New))
	}
	slices.Sort(lines)
	return lines
}

func hasQueue(t *testing.T, s *sandbox, vault string, want []string) {
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
	s := newSandbox(t)
	vault, queue := usedVault(t, s, "Before")
	place := s.mkdir(t, "elsewhere")
	from := vault
	for _, to := range []string{s.path("After"), filepath.Join(place, "After"), vault} {
		rename(t, from, to)
		out := s.run(t, "suggestions", "list", "--json", to)
		if !strings.Contains(out.stderr, from) || !strings.Contains(out.stderr, "taken over") || strings.Count(out.stderr, "\n") != 1 {
			t.Errorf("the first command after the move says %q", out.stderr)
		}
		hasQueue(t, s, to, queue)
		if again := s.run(t, "suggestions", "list", to); again.stderr != "" {
			t.Errorf("the second one says %q", again.stderr)
		}
		from = to
	}
	m := s.mount(t, vault)
	m.stop(t)
	s.decideOn(t, 0, "undo", vault) // of what a person decided before
	if got := authored(t, s, vault); len(got) != 3 {
		t.Errorf("queue after undo: %q", got)
	}
}

// A copy takes nothing from the vault that it is of, nor does a vault in the place of
// another one.
func TestCopiedVaultTakesNoState(t *testing.T) {
	s := newSandbox(t)
	vault, queue := usedVault(t, s, "Notes")
	copied := s.path("Copy")
	copyTree(t, vault, copied)
	for _, line := range authored(t, s, copied) {
		if strings.Contains(line, `by "ann"`) || strings.HasPrefix(line, "delete") {
			t.Errorf("the copy has %s", line)
		}
	}
	hasQueue(t, s, vault, queue)

	// Another vault takes the place, and the first one comes after it.
	rename(t, vault, s.path("Old"))
	s.vault(t, "Notes", map[string]string{"other.md": "{++of nobody++}\n", "Else/x.md": "x\n"})
	hasQueue(t, s, vault, []string{`addition other.md by "": of nobody`})
	hasQueue(t, s, s.path("Old"), queue)
	hasQueue(t, s, vault, []string{`addition other.md by "": of nobody`})

	// A new vault, perhaps with the inode of one that was removed, begins anew.
	if err := os.RemoveAll(s.path("Old")); err != nil {
		t.Fatal(err)
	}
	s.vault(t, "Fresh", map[string]string{"fresh.md": "{++of nobody++}\n"})
	hasQueue(t, s, s.path("Fresh"), []string{`addition fresh.md by "": of nobody`})
}

// What may be a vault that was moved, and may be a copy, is told; a command adopts
// the state.
func TestDoubtfulMoveIsAdoptedByHand(t *testing.T) {
	s := newSandbox(t)
	vault, queue := usedVault(t, s, "Notes")
	moved := s.path("Moved here")
	copyTree(t, vault, moved) // as to another disk
	if out := s.run(t, "adopt", vault, moved); out.code == 0 || !strings.Contains(out.stderr, "still there") {
		t.Errorf("adopting the state of a vault that is there: %+v", out)
	}
	if err := os.RemoveAll(vault); err != nil {
		t.Fatal(err)
	}
	out := s.run(t, "suggestions", "list", moved)
	_, command, _ := strings.Cut(strings.TrimSpace(out.stderr), "relayfs adopt ")
	if !strings.Contains(out.stderr, vault) || !strings.HasSuffix(command, " '"+moved+"'\"") {
		t.Fatalf("nothing is told of the state that is not used: %q", out.stderr)
	}
	state, _, _ := strings.Cut(command, " ")
	if out := s.run(t, "adopt", state, moved); out.code != 0 {
		t.Fatalf("adopt: %+v", out)
	}
	hasQueue(t, s, moved, queue)
	if out := s.run(t, "adopt", vault, moved); out.code == 0 {
		t.Errorf("adopting twice: %+v", out)
	}
	hasQueue(t, s, moved, queue)
}

// A vault that is renamed while it is served belongs to its owner, and goes with its
// state when that has ended.
func TestVaultMovedWhileServed(t *testing.T) {
	s := newSandbox(t)
	vault, queue := usedVault(t, s, "Notes")
	m := s.mount(t, vault)
	after := s.path("After")
	rename(t, vault, after)
	out := s.run(t, "suggestions", "list", after)
	if !strings.Contains(out.stdout+out.stderr, "Notes") {
		t.Errorf("beside the owner: %+v", out)
	}
	m.kill(t)
	hasQueue(t, s, after, queue)
}

// A vault by several paths is one vault, and one inside another is refused.
func TestNestedVaults(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Outer", map[string]string{"a.md": "{++a++}\n", "Inner/b.md": "b\n"})
	inner := filepath.Join(vault, "Inner")
	link := s.path("link")
	if err := os.Symlink(inner, link); err != nil {
		t.Fatal(err)
	}
	outerLink := s.path("outer link")
	if err := os.Symlink(vault, outerLink); err != nil {
		t.Fatal(err)
	}
	refused := func(out output) {
		t.Helper()
		if out.code == 0 || !strings.Contains(out.stderr, "inside each other") {
			t.Errorf("nested vaults: %+v", out)
		}
	}
	dir := s.mkdir(t, "mnt")
	refused(s.run(t, "mount", vault, inner, dir))
	refused(s.run(t, "mount", link, vault, dir))
	m := s.mount(t, vault)
	refused(s.run(t, "mount", inner, dir))
	refused(s.run(t, "suggestions", "list", link))
	if got := authored(t, s, outerLink); len(got) != 1 { // from the owner
		t.Errorf("queue through a symbolic link: %q", got)
	}
	m.stop(t)
	m = s.mountAt(t, link, dir)
	refused(s.run(t, "mount", vault, s.mkdir(t, "mnt2")))
	m.stop(t)
	s.mount(t, outerLink).stop(t)
}
