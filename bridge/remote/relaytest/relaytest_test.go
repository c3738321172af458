package relaytest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// peer is a websocket of a test.
type peer struct {
	t    *testing.T
	conn *websocket.Conn
}

func dial(t *testing.T, s *relaytest.Server, id string, c token.Claims) *peer {
	t.Helper()
	c.Scope = token.Scope{Kind: token.Doc, ID: id, Permission: token.Full}
	base := "http" + strings.TrimPrefix(s.Address(), "ys") + "/d/" + id
	conn, _, err := websocket.Dial(t.Context(), token.NewClientToken(base, id, s.Mint(t, c), token.Full).WebsocketURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	return &peer{t, conn}
}

func (p *peer) send(frame []byte) {
	p.t.Helper()
	if err := p.conn.Write(p.t.Context(), websocket.MessageBinary, frame); err != nil {
		p.t.Fatal(err)
	}
}

// handled returns the types of the frames until everything that was sent has been handled.
func (p *peer) handled() (types []ysync.Type) {
	p.t.Helper()
	p.send(ysync.AppendEcho(nil, []byte("done")))
	for {
		_, frame, err := p.conn.Read(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		f, err := ysync.Decode(frame)
		if err != nil {
			p.t.Fatal(err)
		}
		if f.Type == ysync.Echo {
			return types
		}
		types = append(types, f.Type)
	}
}

func update(text string) []byte {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	doc.Transact(nil, func(tx *ycrdt.Txn) { doc.Text("contents").Insert(tx, 0, text) })
	return doc.EncodeStateAsUpdate(nil)
}

// Who loads a document fixes its channel: a client of the folder hears of its changes if the
// first token had one, and never after a request for the whole document, whatever came later.
func TestFirstLoaderFixesTheChannel(t *testing.T) {
	key, err := token.GenerateKey("k", token.HMAC)
	if err != nil {
		t.Fatal(err)
	}
	s := relaytest.New(t, relaytest.Options{Keys: token.Ring{key}})
	folder := dial(t, s, "folder", token.Claims{})
	folder.send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	folder.handled()
	for id, silent := range map[string]bool{"reported": false, "silenced": true} {
		if silent {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http"+strings.TrimPrefix(s.Address(), "ys")+"/d/"+id+"/as-update", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+s.Mint(t, token.Claims{Channel: "folder", Scope: token.Scope{Kind: token.Server}}))
			resp, err := http.DefaultClient.Do(r)
			if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Relay-Server-Version") == "" {
				t.Fatal(resp, err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		}
		note := dial(t, s, id, token.Claims{Channel: "folder"})
		note.send(ysync.AppendUpdate(nil, update(id)))
		note.handled()
		folder.send(ysync.AppendQuerySubdocs(nil, id))
		var events int
		for _, typ := range folder.handled() {
			if typ == ysync.Event {
				events++
			}
		}
		if heard := events > 0; heard == silent {
			t.Errorf("%s: %d events", id, events)
		}
	}
}
