package tests

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Renames and deletions on the mount wait for a person: over a kill, listed by a
// process of their own, accepted, taken back and rejected.
func TestProposalsWaitForAPerson(t *testing.T) {
	s := newSandbox(t)
	files := map[string]string{
		"Plan.md": "the plan\n", "Index.md": "---\nup: \"[[Plan]]\"\n---\nsee [[Plan|it]]\n", "Gone.md": "gone\n", "dir/Note.md": "note\n",
	}
	vault := s.vault(t, "Vault", files)
	m := s.mount(t, vault)
	for _, rename := range [][2]string{{"Plan.md", "dir/Goal.md"}, {"dir", "folder"}} {
		if err := os.Rename(m.path(rename[0]), m.path(rename[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(m.path("Gone.md")); err != nil {
		t.Fatal(err)
	}
	m.kill(t)

	want := []string{
		"delete Vault/Gone.md > ", "rename Vault/Plan.md > Vault/folder/Goal.md", "rename Vault/dir > Vault/folder",
		"replacement [[Plan|it]] > [[Goal|it]]",
	}
	if got := gists(s.suggestions(t, vault)); !slices.Equal(got, want) {
		t.Fatalf("queue after a kill %q, want %q", got, want)
	}
	waitFor(t, "the killed mount to be dead", func() bool {
		_, err := os.ReadDir(m.dir)
		return err != nil
	})
	m = s.mountAt(t, vault, m.dir)
	shown := []string{"Index.md", "folder", "folder/Goal.md", "folder/Note.md"}
	checkListing(t, m.path(""), shown)
	checkListing(t, vault, []string{"Gone.md", "Index.md", "Plan.md", "dir", "dir/Note.md"})

	// A person changes a note that is to be deleted: that is not done blindly.
	if err := os.WriteFile(filepath.Join(vault, "Gone.md"), []byte("gone, or not\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the change to make the proposal stale", func() bool {
		return slices.Contains(gists(s.suggestions(t, vault)), "delete Vault/Gone.md >  stale")
	})
	if out := s.decideOn(t, 1, "accept", "--all", vault); !strings.Contains(out.stderr, "--force") {
		t.Errorf("acceptance of a stale proposal says %q", out.stderr)
	}
	checkListing(t, vault, []string{"Gone.md", "Index.md", "folder", "folder/Goal.md", "folder/Note.md"})
	checkText(t, "note with links", readFile(t, filepath.Join(vault, "Index.md")), "---\nup: \"[[Goal]]\"\n---\nsee [[Goal|it]]\n")
	s.decideOn(t, 0, "accept", "--all", "--force", vault)
	checkListing(t, vault, shown)
	checkText(t, "trash", readFile(t, filepath.Join(vault, ".trash", "Gone.md")), "gone, or not\n")

	m.stop(t) // a decision is taken back by another process
	s.decideOn(t, 0, "undo", vault)
	s.decideOn(t, 0, "undo", vault)
	checkListing(t, vault, []string{"Gone.md", "Index.md", "Plan.md", "dir", "dir/Note.md"})
	if got := s.suggestions(t, vault); len(got) != 4 {
		t.Errorf("queue after undo %+v", got)
	}
	s.decideOn(t, 0, "reject", "--all", vault)
	for name, text := range files {
		if name == "Gone.md" {
			text = "gone, or not\n"
		}
		checkText(t, name, readFile(t, filepath.Join(vault, name)), text)
	}
	if got := s.suggestions(t, vault); len(got) != 0 {
		t.Errorf("queue at the end %+v", got)
	}
}

// A kill while a person's decision is carried out leaves each proposal pending or
// done.
func TestKillWhileDecidingOnProposals(t *testing.T) {
	const notes = 30
	s := newSandbox(t)
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("n%02d.md", i)] = fmt.Sprintf("note %d\n", i)
	}
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	t.Logf("seed %d", seed)
	for round := range 4 {
		vault := s.vault(t, fmt.Sprint("Vault", round), files)
		m := s.mount(t, vault)
		for i := range notes {
			name := fmt.Sprintf("n%02d.md", i)
			if err := os.Rename(m.path(name), m.path("to-"+name)); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), queueTimeout)
		accept := s.command(ctx, "suggestions", "accept", "--all", "--yes", vault)
		if err := accept.Start(); err != nil {
			t.Fatal(err)
		}
		some := rng.IntN(notes)
		waitFor(t, "the decision to be under way", func() bool {
			done, _ := filepath.Glob(filepath.Join(vault, "to-*"))
			return len(done) > some
		})
		m.kill(t)
		_ = accept.Wait() // its owner is gone
		cancel()
		pending := make(map[string]bool)
		for _, q := range s.suggestions(t, vault) {
			pending[q.Old] = true
		}
		for name, text := range files {
			old, to := filepath.Join(vault, name), filepath.Join(vault, "to-"+name)
			at, gone := to, old
			if pending[fmt.Sprintf("Vault%d/%s", round, name)] {
				at, gone = old, to
			}
			checkText(t, at, readFile(t, at), text)
			if _, err := os.Stat(gone); err == nil {
				t.Errorf("%s is there, too", gone)
			}
		}
		s.decideOn(t, 0, "accept", "--all", "--yes", vault)
		if got, _ := filepath.Glob(filepath.Join(vault, "to-*")); len(got) != notes {
			t.Errorf("%d notes are renamed in the end, want %d", len(got), notes)
		}
	}
}
