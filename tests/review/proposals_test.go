package review

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// Renames and deletions on the mount wait for a person: over a kill, listed by a
// process of their own, accepted, taken back and rejected.
func TestProposalsWaitForAPerson(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	files := map[string]string{
		"Plan.md": "the plan\n", "Index.md": "---\nup: \"[[Plan]]\"\n---\nsee [[Plan|it]]\n", "Gone.md": "gone\n", "dir/Note.md": "note\n",
	}
	vault := s.Vault(t, "Vault", files)
	m := s.Mount(t, vault)
	for _, rename := range [][2]string{{"Plan.md", "dir/Goal.md"}, {"dir", "folder"}} {
		if err := os.Rename(m.Path(rename[0]), m.Path(rename[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(m.Path("Gone.md")); err != nil {
		t.Fatal(err)
	}
	m.Kill(t)

	want := []string{
		"delete Vault/Gone.md > ", "rename Vault/Plan.md > Vault/folder/Goal.md", "rename Vault/dir > Vault/folder",
		"replacement [[Plan|it]] > [[Goal|it]]",
	}
	if got := harness.Gists(s.Suggestions(t, vault)); !slices.Equal(got, want) {
		t.Fatalf("queue after a kill %q, want %q", got, want)
	}
	harness.WaitFor(t, "the killed mount to be dead", func() bool {
		_, err := os.ReadDir(m.Dir)
		return err != nil
	})
	m = s.MountAt(t, vault, m.Dir)
	shown := []string{"Index.md", "folder", "folder/Goal.md", "folder/Note.md"}
	harness.CheckListing(t, m.Path(""), shown)
	harness.CheckListing(t, vault, []string{"Gone.md", "Index.md", "Plan.md", "dir", "dir/Note.md"})

	// A person changes a note that is to be deleted: that is not done blindly.
	if err := os.WriteFile(filepath.Join(vault, "Gone.md"), []byte("gone, or not\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	harness.WaitFor(t, "the change to make the proposal stale", func() bool {
		return slices.Contains(harness.Gists(s.Suggestions(t, vault)), "delete Vault/Gone.md >  stale")
	})
	if out := s.DecideOn(t, 1, "accept", "--all", vault); !strings.Contains(out.Stderr, "--force") {
		t.Errorf("acceptance of a stale proposal says %q", out.Stderr)
	}
	harness.CheckListing(t, vault, []string{"Gone.md", "Index.md", "folder", "folder/Goal.md", "folder/Note.md"})
	harness.CheckText(t, "note with links", harness.ReadFile(t, filepath.Join(vault, "Index.md")), "---\nup: \"[[Goal]]\"\n---\nsee [[Goal|it]]\n")
	s.DecideOn(t, 0, "accept", "--all", "--force", vault)
	harness.CheckListing(t, vault, shown)
	harness.CheckText(t, "trash", harness.ReadFile(t, filepath.Join(vault, ".trash", "Gone.md")), "gone, or not\n")

	m.Stop(t) // a decision is taken back by another process
	s.DecideOn(t, 0, "undo", vault)
	s.DecideOn(t, 0, "undo", vault)
	harness.CheckListing(t, vault, []string{"Gone.md", "Index.md", "Plan.md", "dir", "dir/Note.md"})
	if got := s.Suggestions(t, vault); len(got) != 4 {
		t.Errorf("queue after undo has %d entries, want 4: %+v", len(got), got)
	}
	s.DecideOn(t, 0, "reject", "--all", vault)
	for name, text := range files {
		if name == "Gone.md" {
			text = "gone, or not\n"
		}
		harness.CheckText(t, name, harness.ReadFile(t, filepath.Join(vault, name)), text)
	}
	if got := s.Suggestions(t, vault); len(got) != 0 {
		t.Errorf("queue at the end has %d entries, want none: %+v", len(got), got)
	}
}

// A kill while a person's decision is carried out leaves each proposal pending or
// done.
func TestKillWhileDecidingOnProposals(t *testing.T) {
	t.Parallel()
	const notes = 30
	s := harness.NewSandbox(t)
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("n%02d.md", i)] = fmt.Sprintf("note %d\n", i)
	}
	rng := randomtest.New(t)
	for round := range 4 {
		vault := s.Vault(t, fmt.Sprint("Vault", round), files)
		m := s.Mount(t, vault)
		for i := range notes {
			name := fmt.Sprintf("n%02d.md", i)
			if err := os.Rename(m.Path(name), m.Path("to-"+name)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), harness.QueueTimeout)
		accept := s.Command(ctx, "suggestions", "accept", "--all", "--yes", vault)
		if err := accept.Start(); err != nil {
			t.Fatal(err)
		}
		some := rng.IntN(notes)
		harness.WaitFor(t, "the decision to be under way", func() bool {
			done, _ := filepath.Glob(filepath.Join(vault, "to-*"))
			return len(done) > some
		})
		m.Kill(t)
		_ = accept.Wait() // its owner is gone
		cancel()
		pending := make(map[string]bool)
		for _, q := range s.Suggestions(t, vault) {
			pending[q.Old] = true
		}
		for name, text := range files {
			old, to := filepath.Join(vault, name), filepath.Join(vault, "to-"+name)
			at, deleted := to, old
			if pending[fmt.Sprintf("Vault%d/%s", round, name)] {
				at, deleted = old, to
			}
			harness.CheckText(t, at, harness.ReadFile(t, at), text)
			if _, err := os.Stat(deleted); err == nil {
				t.Errorf("%s is there, too", deleted)
			}
		}
		s.DecideOn(t, 0, "accept", "--all", "--yes", vault)
		if got, _ := filepath.Glob(filepath.Join(vault, "to-*")); len(got) != notes {
			t.Errorf("%d notes are renamed in the end, want %d", len(got), notes)
		}
	}
}
