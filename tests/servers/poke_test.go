package servers

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// In a folder that may only be read watchers are woken as in any, and that is nothing that was refused.
func TestReadOnlyFolderWakesWatchers(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	server := shareFolder(t, "Team", map[string]string{"Note.md": "note\n", "Other.md": "other\n"})
	s := harness.NewSandbox(t)
	s.Env = append(s.Env, "RELAYFS_TOKEN="+server.mint(t, token.ReadOnly, ""))
	m := s.Mount(t, server.source()[0])
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(watch, filepath.Join(m.Dir, "Team"), unix.IN_MODIFY)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(watch)
	var heard strings.Builder
	for path, id := range server.notes {
		harness.FileBecomes(t, filepath.Join(m.Dir, "Team", path), strings.ToLower(strings.TrimSuffix(path, ".md"))+"\n")
		doc := ycrdt.NewDoc(ycrdt.Options{})
		doc.Transact(func(tx *ycrdt.Txn) { doc.Text("contents").Insert(tx, 0, "typed ") })
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http"+server.Address()[2:]+"/d/"+id+"/update", bytes.NewReader(doc.EncodeStateAsUpdate(nil)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+server.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Doc, ID: id, Permission: token.Full}}))
		resp, err := http.DefaultClient.Do(r)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		resp.Body.Close()
		harness.Eventually(t, serverPatience, func() error {
			events := make([]byte, 4096)
			if n, err := unix.Read(watch, events); err == nil {
				heard.Write(events[:n])
			}
			if !strings.Contains(heard.String(), path) {
				return fmt.Errorf("the watcher has heard %q", heard.String())
			}
			return nil
		})
	}
	if log := m.Log.String(); strings.Contains(log, "refused") {
		t.Errorf("the mount says %s", log)
	}
	m.Stop(t)
}
