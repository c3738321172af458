package yserve_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/fxamacker/cbor/v2"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/ysync"
)

func TestSync(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	a, b := s.join(id, "ann"), s.join(id, "bob")
	a.untilText("one\n")
	a.insert(3, " 🌍")
	if got := s.read("Notes/Plan.md"); got != "one 🌍\n" {
		t.Errorf("a reader sees %q after the echo", got)
	}
	b.untilText("one 🌍\n")
	b.insert(0, "two ")
	a.untilText("two one 🌍\n")
	s.untilFile("Notes/Plan.md", "two one 🌍\n")
	s.Person("Notes/Plan.md", "two one 🌍 saved\n")
	a.untilText("two one 🌍 saved\n")
	b.untilText("two one 🌍 saved\n")
}

// Whoever comes back after a while offline gets and brings what was missed.
func TestOfflineAndBack(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	a, b := s.join(id, "ann"), s.join(id, "bob")
	a.untilText("one\n")
	a.stop()
	b.untilText("one\n")
	b.insert(0, "bob ")
	a.doc.Transact("me", func(txn *ycrdt.Txn) { a.doc.Text("contents").Insert(txn, 3, " ann") })
	again := s.join(id, "ann")
	if err := again.doc.ApplyUpdate(a.doc.EncodeStateAsUpdate(nil), "own"); err != nil {
		t.Fatal(err)
	}
	again.send(ysync.AppendStep2(nil, a.doc.EncodeStateAsUpdate(nil)))
	again.untilText("bob one ann\n")
	b.untilText("bob one ann\n")
}

func TestReadOnly(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	ct := s.clientToken(id, `{"authorization":"read-only"}`)
	p := s.dial(ct.WebsocketURL())
	p.untilText("one\n")
	p.typed(0, "x")
	if f := p.frame(ysync.Auth); f.Auth != ysync.PermissionDenied {
		t.Errorf("a write gets %+v", f)
	}
	p.sync()
	if got := s.read("Notes/Plan.md"); got != "one\n" {
		t.Errorf("a reader sees %q", got)
	}
	s.Person("Notes/Plan.md", "two\n")
	p.until("changes still come", func() bool { return strings.Contains(p.text(), "two") })
}

func TestTokenExpires(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	p := s.dial(s.clientToken(id, `{"validForSeconds":2}`).WebsocketURL()) // in whole seconds: between one and two
	if code := p.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("the connection ends with %d", code)
	}
}

// status is what a refused websocket handshake answers.
func (s *served) status(path string, header http.Header) int {
	s.t.Helper()
	ws, res, err := websocket.Dial(s.t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+path, &websocket.DialOptions{HTTPHeader: header})
	if err == nil {
		ws.CloseNow()
	}
	if res == nil {
		s.t.Fatal(err)
	}
	return res.StatusCode
}

func TestHandshakeRefused(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	expired := s.mint("doc:"+id+":rw", token.Claims{Expires: time.Now().Add(-time.Hour)})
	for path, want := range map[string]int{
		"/d/" + id + "/ws/" + id:                                                  401,
		"/d/" + id + "/ws/" + id + "?token=nonsense":                              401,
		"/d/" + id + "/ws/" + id + "?token=" + expired:                            401,
		"/d/" + id + "/ws/other?token=" + s.mint("server", token.Claims{}):        400,
		"/d/" + id + "/ws/" + id + "?token=" + s.mint("doc:x:rw", token.Claims{}): 403,
		"/d/nope/ws/nope?token=" + s.mint("doc:nope:r", token.Claims{}):           404,
		"/d/a.b/ws/a.b?token=" + s.mint("server", token.Claims{}):                 400,
		"/Notes/None.md?token=" + s.mint("server", token.Claims{}):                400,
		"/Notes/Plan.md?token=" + s.mint("doc:x:rw", token.Claims{}):              403,
		"/Notes/Plan.md?token=" + s.mint("doc:"+id+":r", token.Claims{}):          101,
		"/doc/ws/" + id + "?token=" + s.mint("doc:"+id+":r", token.Claims{}):      101,
		"/" + id + "?token=" + s.mint("prefix:"+id[:4]+":r", token.Claims{}):      101,
	} {
		if got := s.status(path, nil); got != want {
			t.Errorf("%s: status %d, want %d", path, got, want)
		}
	}
}

// Without keys every program of this machine is let in, but no page of the web.
func TestOpenServer(t *testing.T) {
	s := serve(t, open)
	for header, want := range map[string]int{
		"": 101, "Origin: http://localhost:5173": 101, "Origin: https://evil.example": 403, "Host: evil.example": 403, "Origin: null": 403,
	} {
		h := http.Header{}
		if name, value, ok := strings.Cut(header, ": "); ok {
			h.Set(name, value)
		}
		opts := &websocket.DialOptions{HTTPHeader: h, Host: h.Get("Host")}
		ws, res, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(s.url, "http")+"/Notes/Plan.md", opts)
		if err == nil {
			ws.CloseNow()
		}
		if res == nil || res.StatusCode != want {
			t.Errorf("with %q: %v, want %d", header, res, want)
		}
	}
}

// A frame that is none ends the connection with a code, and changes nothing.
func TestHostileFrames(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.Frame = 1 << 20 })
	id := s.id("Notes/Plan.md")
	many := make([]string, ysync.MaxQuerySubdocs)
	for i := range many {
		many[i] = "x"
	}
	tooMany := ysync.AppendQuerySubdocs(nil, many...)
	tooMany[1]++ // says one more than there are
	for name, tc := range map[string]struct {
		frame []byte
		want  websocket.StatusCode
	}{
		"empty":            {nil, websocket.StatusInvalidFramePayloadData},
		"half a varint":    {[]byte{0x80}, websocket.StatusInvalidFramePayloadData},
		"sync of step 9":   {[]byte{0, 9}, websocket.StatusInvalidFramePayloadData},
		"bad state vector": {ysync.AppendStep1(nil, []byte{9}), websocket.StatusInvalidFramePayloadData},
		"bad update":       {ysync.AppendUpdate(nil, []byte{1, 1, 1, 1, 1, 255}), websocket.StatusInvalidFramePayloadData},
		"bad awareness":    {ysync.AppendAwareness(nil, []byte{7}), websocket.StatusInvalidFramePayloadData},
		"too many subdocs": {tooMany, websocket.StatusInvalidFramePayloadData},
		"too large":        {make([]byte, 2<<20), websocket.StatusMessageTooBig},
	} {
		p := s.join(id, "")
		p.send(tc.frame)
		if code := p.closed(); code != tc.want {
			t.Errorf("%s: the connection ends with %d, want %d", name, code, tc.want)
		}
	}
	p := s.join(id, "")
	if err := p.ws.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if code := p.closed(); code != websocket.StatusUnsupportedData {
		t.Errorf("text: the connection ends with %d", code)
	}
	p = s.join(id, "")
	p.untilText("one\n")
	p.send([]byte{77, 1, 2}) // a type from the future
	p.insert(0, "x")
	if got := s.read("Notes/Plan.md"); got != "xone\n" {
		t.Errorf("a reader sees %q", got)
	}
}

// A client that does not read is cut off when its queue is full, and never just
// misses frames.
func TestSlowClient(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.Queue = 4 })
	id := s.id("Notes/Plan.md")
	slow, res, err := websocket.Dial(t.Context(), fmt.Sprintf("ws%s/d/%s/ws/%s?token=%s", strings.TrimPrefix(s.url, "http"), id, id, s.mint("server", token.Claims{})), nil)
	if err != nil {
		t.Fatalf("%v, %v", err, res)
	}
	defer slow.CloseNow()
	busy := s.join(id, "")
	busy.untilText("one\n")
	block := strings.Repeat("x", 1<<20)
	for range 12 { // more than the queue and the buffers of the kernel take
		busy.insert(0, block)
	}
	slow.SetReadLimit(-1)
	for {
		if _, _, err = slow.Read(t.Context()); err != nil {
			break
		}
	}
	if code := websocket.CloseStatus(err); code != websocket.StatusTryAgainLater && code != -1 {
		t.Errorf("the slow client is ended with %d: %v", code, err)
	}
	again := s.join(id, "")
	again.until("the text is complete", func() bool { return len(again.text()) == 12<<20+len("one\n") })
}

func TestAwareness(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	a, b := s.join(id, "ann"), s.join(id, "bob")
	mine := ysync.NewAwareness(a.doc.ClientID())
	if err := mine.SetLocal(map[string]any{"user": map[string]string{"name": "ann"}}); err != nil {
		t.Fatal(err)
	}
	a.send(ysync.AppendAwareness(nil, mine.EncodeAll()))
	theirs := ysync.NewAwareness(b.doc.ClientID())
	for _, p := range []*peer{a, b} { // the sender gets it back
		if err := theirs.Apply(p.frame(ysync.AwarenessState).Payload, nil); err != nil {
			t.Fatal(err)
		}
		if state := string(theirs.States()[a.doc.ClientID()]); !strings.Contains(state, "ann") {
			t.Errorf("ann's state is %s", state)
		}
	}
	late := s.join(id, "eve")
	if err := ysync.NewAwareness(late.doc.ClientID()).Apply(late.frame(ysync.AwarenessState).Payload, nil); err != nil {
		t.Fatal(err)
	}
	late.send([]byte{byte(ysync.QueryAwareness)})
	late.frame(ysync.AwarenessState)
	a.stop()
	for len(theirs.Others()) > 0 { // bob may have heard of ann twice, when he was greeted and when she spoke
		if err := theirs.Apply(b.frame(ysync.AwarenessState).Payload, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// A client that says nothing hears from the server all the same.
func TestBeat(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.Ping = 20 * time.Millisecond })
	p := s.join(s.id("Notes/Plan.md"), "")
	for range 3 {
		p.frame(ysync.AwarenessState)
	}
}

func TestShutdown(t *testing.T) {
	s := serve(t)
	p := s.join(s.id("Notes/Plan.md"), "")
	p.untilText("one\n")
	s.server.Close()
	if code := p.closed(); code != websocket.StatusGoingAway {
		t.Errorf("the connection ends with %d", code)
	}
}

func TestRemovedNote(t *testing.T) {
	s := serve(t)
	p := s.join(s.id("Notes/Plan.md"), "")
	p.untilText("one\n")
	s.Delete("Notes/Plan.md")
	if code := p.closed(); code != websocket.StatusServiceRestart {
		t.Errorf("the connection ends with %d", code)
	}
}

func TestLimits(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.Connections, o.Limits.Documents = 3, 2 })
	key := "?token=" + s.mint("server", token.Claims{})
	s.dial(s.url + "/one" + key)
	s.dial(s.url + "/two" + key)
	if got := s.status("/three"+key, nil); got != http.StatusServiceUnavailable {
		t.Errorf("a document too many: status %d", got)
	}
	s.dial(s.url + "/two" + key)
	if got := s.status("/two"+key, nil); got != http.StatusServiceUnavailable {
		t.Errorf("a connection too many: status %d", got)
	}
}

// One connection to a folder document follows everything in it.
func TestEventsAndSubdocs(t *testing.T) {
	s := serve(t)
	folder, id := s.join(s.id("Notes"), ""), s.id("Notes/Plan.md")
	folder.send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	folder.sync()
	note := s.join(id, "ann")
	note.untilText("one\n")
	note.insert(0, "x")
	var ev struct {
		Type     string `cbor:"event_type"`
		Document string `cbor:"doc_id"`
		User     string `cbor:"user"`
		Time     int64  `cbor:"timestamp"`
		Update   []int  `cbor:"update"`
	}
	if err := cbor.Unmarshal(folder.frame(ysync.Event).Payload, &ev); err != nil {
		t.Fatal(err)
	}
	if ev.Type != ysync.DocumentUpdated || ev.Document != id || ev.User != "ann" || ev.Time == 0 || len(ev.Update) == 0 {
		t.Errorf("the event is %+v", ev)
	}
	note.stop()

	var answer struct {
		Data map[string]struct {
			Snapshot []byte `cbor:"snapshot"`
		} `cbor:"data"`
	}
	folder.send(ysync.AppendQuerySubdocs(nil, id, "unknown"))
	if err := cbor.Unmarshal(folder.frame(ysync.Subdocs).Payload, &answer); err != nil {
		t.Fatal(err)
	}
	snapshot, err := ycrdt.DecodeSnapshot(answer.Data[id].Snapshot)
	if err != nil || len(answer.Data) != 1 || !snapshot.Contains(note.doc.Snapshot()) {
		t.Errorf("subdocs are %v, %v", answer.Data, err)
	}

	folder.send([]byte("\x06\x01\x10" + ysync.DocumentUpdated))
	folder.sync()
	folder.mu.Lock()
	folder.frames = nil
	folder.mu.Unlock()
	s.join(id, "").insert(0, "y")
	folder.sync()
	folder.mu.Lock()
	defer folder.mu.Unlock()
	for _, f := range folder.frames {
		if f.Type == ysync.Event {
			t.Error("an event came after unsubscribing")
		}
	}
}

// A note changed by a program or a person, which no client has open, is an event
// without its update.
func TestEventOfClosedNote(t *testing.T) {
	s := serve(t)
	folder := s.join(s.id("Notes"), "")
	folder.send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	folder.sync()
	s.read("Notes/Plan.md")
	if _, err := s.Write(context.Background(), "Notes/Plan.md", bridge.Write{Text: "two\n"}); err != nil {
		t.Fatal(err)
	}
	var ev map[string]any
	if err := cbor.Unmarshal(folder.frame(ysync.Event).Payload, &ev); err != nil || ev["doc_id"] != s.id("Notes/Plan.md") {
		t.Errorf("the event is %v, %v", ev, err)
	}
}

// Two hundred clients type into one note at once.
func TestManyClients(t *testing.T) {
	s := serve(t)
	id := s.id("Notes/Plan.md")
	peers := make([]*peer, 200)
	for i := range peers {
		peers[i] = s.join(id, fmt.Sprint("user", i))
	}
	for i, p := range peers {
		p.typed(0, fmt.Sprintf("w%d ", i))
	}
	for _, p := range peers {
		p.until("every word has come", func() bool { return strings.Count(p.text(), "w") == len(peers) })
	}
	s.untilFile("Notes/Plan.md", peers[0].text())
}
