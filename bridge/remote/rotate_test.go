package remote_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/tests/need"
)

// silently writes to notes that nobody has open, over HTTP. That loads their documents without a
// channel, so that the server reports nothing. It returns the notes.
func silently(t *testing.T, s *relaytest.Server, notes, n int) (written []string) {
	t.Helper()
	byText := make(map[string]string)
	for _, id := range s.Documents() {
		byText[s.Text(id)] = id
	}
	for i := notes - 1; i >= 0 && len(written) < n; i-- {
		id := byText[fmt.Sprintf("note %d\n", i)]
		if !s.Unload(id) {
			continue
		}
		doc := ycrdt.NewDoc(ycrdt.Options{})
		doc.Transact(func(tx *ycrdt.Txn) { doc.Text("contents").Insert(tx, 0, "silent ") })
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http"+strings.TrimPrefix(s.Address(), "ys")+"/d/"+id+"/update", bytes.NewReader(doc.EncodeStateAsUpdate(nil)))
		noError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Doc, ID: id, Permission: token.Full}}))
		resp, err := people.Do(r)
		noError(t, err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Fatal(resp.Status)
		}
		written = append(written, fmt.Sprintf("%d.md", i))
	}
	if len(written) < n {
		t.Fatalf("%d notes are not connected, want %d", len(written), n)
	}
	return written
}

func silentText(name string) string {
	text := "note " + strings.TrimSuffix(name, ".md") + "\n"
	return "silent " + text
}

func isSilent(text, name string) bool {
	want := silentText(name)
	return text == want || text == strings.TrimPrefix(want, "silent ")+"silent " // either order of concurrent insertions
}

// What the server reports to nobody is found: at once in a note that is opened, and in all
// others within the time that docs/servers.md tells.
func TestSilentNotes(t *testing.T) {
	t.Parallel()
	resync := func(d time.Duration) func(*remote.Options, *bridge.Options) {
		return func(o *remote.Options, _ *bridge.Options) { o.Resync = need.Scaled(d) }
	}
	t.Run("opened", func(t *testing.T) {
		t.Parallel()
		s, key := standIn(t, relaytest.Options{})
		notes := fill(t, s)
		c := openRelay(t, s, withKey(key), resync(8*time.Second))
		c.awaitAll(notes)
		c.patience = need.Scaled(30 * time.Second) // the rotation takes 4 minutes
		for _, name := range silently(t, s, notes, 3) {
			c.await(name, func() bool {
				v, err := c.Open(t.Context(), model.Path("Team/"+name))
				return err == nil && isSilent(v.Raw(), name)
			})
		}
	})
	t.Run("all", func(t *testing.T) {
		t.Parallel()
		s, key := standIn(t, relaytest.Options{})
		notes := fill(t, s)
		const tick = 300 * time.Millisecond
		c := openRelay(t, s, withKey(key), resync(tick))
		c.awaitAll(notes)
		start := time.Now()
		for _, name := range silently(t, s, notes, 10) {
			c.await(name, func() bool {
				data, _, err := c.source.Read(t.Context(), name) // which is no sign that somebody opens it
				return err == nil && isSilent(string(data), name)
			})
		}
		if took, limit := time.Since(start), need.Scaled(30*tick+5*time.Second); took > limit {
			t.Errorf("it took %v, more than %v", took, limit)
		}
		c.await("the age of the last comparison", func() bool {
			st := c.source.SyncStatus()
			return st.Uncompared == 0 && time.Since(st.Compared) < need.Scaled(30*tick+5*time.Second)
		})
	})
}
