package servers

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/bridge/remote/folderdoc"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A program saves its new note by removing it and writing it again. The note keeps its document, in which a user may be typing.
// A note that is not written again goes.
func TestNewNoteWrittenAgainKeepsItsDocument(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	server := shareFolder(t, "Team", map[string]string{"Other.md": "other\n"})
	s := harness.NewSandbox(t)
	s.Env = append(s.Env, "RELAYFS_TOKEN="+server.token(t))
	m := s.Mount(t, server.source()[0])
	note := filepath.Join(m.Dir, "Team", "New.md")
	listed := func(want bool) (id string) {
		t.Helper()
		harness.Eventually(t, serverPatience, func() error {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http"+server.Address()[2:]+"/d/"+relayFolder+"/as-update", nil)
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+server.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Doc, ID: relayFolder, Permission: token.Full}}))
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			doc := ycrdt.NewDoc(ycrdt.Options{})
			if update, err := io.ReadAll(resp.Body); err != nil || doc.ApplyUpdate(update) != nil {
				return fmt.Errorf("the server answers %q %v", update, err)
			}
			e, ok := folderdoc.Open(doc).Get("New.md")
			if id = e.ID; ok != want {
				return fmt.Errorf("listed: %v", ok)
			}
			return nil
		})
		return id
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(note, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	remove := func() {
		t.Helper()
		if err := os.Remove(note); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(note); !os.IsNotExist(err) {
			t.Fatalf("after its removal: %v", err)
		}
	}
	write("first\n")
	id := listed(true)
	remove()
	write("second\n")
	server.notes["New.md"] = testRelay + "-" + id
	server.becomes(t, "New.md", "{++second\n++}")
	if now := listed(true); now != id {
		t.Errorf("the document %s became %s", id, now)
	}
	remove()
	listed(false)
	m.Stop(t)
}
