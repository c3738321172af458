package vault_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
	"github.com/relayfs/relayfs/diffwrap"
)

// TestWorkspaceAgainstAPerson runs a whole workspace on a vault and a store: a program suggests lines at the top of a note
// while a user adds lines at its end. Every suggestion whose write was acknowledged and every line of the person is in the
// file at the end, the user's unmarked.
func TestWorkspaceAgainstAPerson(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	p.Save("N.md", "# Note\n\nmiddle\n\n")
	w := startWorkspace(t, v)
	done := make(chan int)
	go func() { done <- personAppends(t, p) }()
	suggestions := 0
	for finished := 0; finished == 0; suggestions++ {
		_, err := w.Update(t.Context(), "V/N.md", model.Author{Name: "agent"}, nil, func(current *model.Version) (string, error) {
			return fmt.Sprintf("suggestion %d.\n\n%s", suggestions, current.Text()), nil
		})
		p.check(err)
		select {
		case finished = <-done:
		case <-time.After(time.Duration(rand.IntN(20)) * time.Millisecond):
		}
	}
	p.check(v.Close())
	raw := p.Content("N.md")
	for i := range suggestions {
		if line := fmt.Sprintf("suggestion %d.", i); !strings.Contains(raw, line) {
			t.Errorf("%q is lost", line)
		}
	}
	original := diffwrap.Original(raw)
	for i := range personLines {
		if line := fmt.Sprintf("person %d.\n", i); !strings.Contains(original, line) {
			t.Errorf("%q is lost, or marked", line)
		}
	}
	if strings.Contains(original, "suggestion") {
		t.Errorf("a suggestion is not marked:\n%s", raw)
	}
	t.Logf("%d suggestions", suggestions)
}

func startWorkspace(t testing.TB, v *vault.Vault) *bridge.Workspace {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w, err := bridge.New(bridge.Options{Roots: []bridge.RootSource{{Name: "V", Source: v, Store: s}}})
	if err == nil {
		err = w.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return w
}

// personLines is how many lines the user adds.
const personLines = 40

// personAppends adds lines as `echo line >> N.md` does.
func personAppends(t *testing.T, p person) int {
	for i := range personLines {
		time.Sleep(time.Duration(20+rand.IntN(80)) * time.Millisecond)
		f, err := os.OpenFile(p.path("N.md"), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = fmt.Fprintf(f, "person %d.\n", i)
			f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	return personLines
}

// A new note that is rejected goes to the vault's trash with its front matter, and comes back
// from there when that is undone.
func TestRejectedNoteGoesToTheTrash(t *testing.T) {
	t.Parallel()
	v, p := open(t, vault.Options{})
	w := startWorkspace(t, v)
	person := model.Author{Name: "person"}
	if _, err := w.Create(t.Context(), "V/New/N.md", bridge.Write{Text: "---\na: 1\n---\ntext\n", By: model.Author{Name: "agent"}}); err != nil {
		t.Fatal(err)
	}
	raw := p.Content("New/N.md")
	for range 2 {
		list, err := w.Suggestions(t.Context(), "")
		if err != nil || len(list) != 1 {
			t.Fatalf("waiting: %+v, %v", list, err)
		}
		if _, err := w.Decide(t.Context(), []string{list[0].ID}, model.Rejected, person); err != nil {
			t.Fatal(err)
		}
		if got, want := p.Content(".trash/N.md"), "---\na: 1\n---\n"; got != want {
			t.Errorf("the trash has %q, want %q", got, want)
		}
		if _, err := os.Stat(p.path("New")); !os.IsNotExist(err) {
			t.Errorf("its folder: %v", err)
		}
		if out, err := w.Undo(t.Context(), "", person); err != nil || len(out.Failed) > 0 {
			t.Fatalf("undo: %v %v", out.Failed, err)
		}
		if got := p.Content("New/N.md"); got != raw {
			t.Errorf("came back as %q, want %q", got, raw)
		}
		if left, err := os.ReadDir(p.path(".trash")); err != nil || len(left) > 0 {
			t.Errorf("left in the trash: %v, %v", left, err)
		}
	}
}
