package vault_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/store"
	"github.com/relayfs/relayfs/bridge/vault"
)

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
