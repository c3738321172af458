package remote_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/ysync"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// witness is a client that follows a document, and learns whose each client is by the rule of
// Relay's plugin: that of the last entry.
type witness struct {
	mu     sync.Mutex // protects the following
	doc    *ycrdt.Doc
	whose  map[ycrdt.ClientID]string
	failed error
}

func watch(t *testing.T, s *relaytest.Server, id string) *witness {
	t.Helper()
	text := s.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Doc, ID: id, Permission: token.Full}, Channel: relayFolder})
	conn, _, err := websocket.Dial(t.Context(), token.NewClientToken("http"+s.Address()[2:]+"/d/"+id, id, text, token.Full).WebsocketURL(), nil)
	noError(t, err)
	conn.SetReadLimit(-1)
	t.Cleanup(func() { conn.CloseNow() })
	w := &witness{doc: ycrdt.NewDoc(ycrdt.Options{}), whose: make(map[ycrdt.ClientID]string)}
	noError(t, conn.Write(t.Context(), websocket.MessageBinary, ysync.AppendStep1(nil, w.doc.EncodeStateVector())))
	go func() {
		for {
			_, frame, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			if f, err := ysync.Decode(frame); err == nil && f.Type == ysync.Sync && f.Step != ysync.Step1 {
				w.take(f.Payload)
			}
		}
	}()
	return w
}

// take applies an update, without its deletions first: a list to which it adds is read again, as
// one whose last entry is new, also if the update deletes as many entries of it.
func (w *witness) take(update []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	users := w.doc.Map("users")
	known := make(map[string]int)
	for _, name := range users.Keys() {
		if ids := idsOf(w.doc, name); ids != nil {
			known[name] = len(ids.Values())
		}
	}
	added, err := ycrdt.WithDeletesOf(update, ycrdt.JoinSnapshots())
	if err == nil {
		err = w.doc.ApplyUpdate(added)
	}
	grown := make(map[string]bool)
	for _, name := range users.Keys() {
		ids := idsOf(w.doc, name)
		grown[name] = ids != nil && len(ids.Values()) > known[name]
	}
	if err == nil {
		err = w.doc.ApplyUpdate(update)
	}
	if err != nil {
		w.failed = err
		return
	}
	for _, name := range users.Keys() {
		if ids := idsOf(w.doc, name); grown[name] && ids != nil {
			if values := ids.Values(); len(values) > 0 {
				w.whose[clientOf(values[len(values)-1])] = name
			}
		}
	}
}

func idsOf(doc *ycrdt.Doc, user string) *ycrdt.Array {
	v, _ := doc.Map("users").Get(user)
	m, _ := v.(*ycrdt.Map)
	if m == nil {
		return nil
	}
	v, _ = m.Get("ids")
	ids, _ := v.(*ycrdt.Array)
	return ids
}

func clientOf(v any) ycrdt.ClientID {
	switch v := v.(type) {
	case int64:
		return ycrdt.ClientID(v)
	case float64:
		return ycrdt.ClientID(v)
	}
	return 0
}

// What an agent writes with a person's token is the agent's, for those who are connected and for
// those who load the document later.
func TestAgentIsNotThePerson(t *testing.T) {
	t.Parallel()
	s, key := standIn(t, relaytest.Options{})
	first := openRelay(t, s, withKey(key))
	first.create("Team/Note.md", "note\n")
	first.awaitSent()
	first.stop()
	id := ""
	for _, d := range s.Documents() {
		if s.Text(d) == "note\n" {
			id = d
		}
	}
	w := watch(t, s, id)
	prefix := token.Scope{Kind: token.Prefix, ID: relayFolder[:36], Permission: token.Full}
	const sessions = 6
	for i := range sessions {
		c := openRelay(t, s, withToken(s.Mint(t, token.Claims{Scope: prefix, User: "ann", Channel: relayFolder})))
		c.awaitAll(1)
		agent := model.Author{Name: fmt.Sprintf("agent%d", i%2), Session: "s"}
		_, err := c.Update(t.Context(), "Team/Note.md", agent, nil, func(v *model.Version) (string, error) { return v.Text() + "more\n", nil })
		noError(t, err)
		c.awaitSent()
		c.await("the agent's name", func() bool {
			users := s.Users(id)
			_, registered := users["ann"] // which comes after the first acknowledgement
			n := 0
			for _, ids := range users {
				n += len(ids)
			}
			return registered && len(users["ann"]) == 0 && n == i+2
		})
		c.awaitSent()
		c.stop()
	}
	users := s.Users(id)
	if got := len(users["ai:agent0"]) + len(users["ai:agent1"]); got != sessions {
		t.Errorf("%d clients are agents', want %d: %v", got, sessions, users)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	noError(t, w.failed)
	for _, name := range slices.Sorted(maps.Keys(users)) {
		for _, client := range users[name] {
			if w.whose[client] != name {
				t.Errorf("%d is %q, and those connected saw %q", client, name, w.whose[client])
			}
		}
	}
}
