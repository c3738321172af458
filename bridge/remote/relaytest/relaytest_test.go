package relaytest_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/fxamacker/cbor/v2"

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
	p, code := connect(t, s, id, s.Mint(t, c))
	if p == nil {
		t.Fatal(code)
	}
	return p
}

// connect returns a websocket, or the status of its refusal.
func connect(t *testing.T, s *relaytest.Server, id, text string) (*peer, int) {
	t.Helper()
	conn, resp, err := websocket.Dial(t.Context(), token.NewClientToken(base(s)+"/d/"+id, id, text, token.Full).WebsocketURL(), nil)
	if err != nil {
		return nil, resp.StatusCode
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { conn.CloseNow() })
	return &peer{t, conn}, 0
}

func base(s *relaytest.Server) string { return "http" + strings.TrimPrefix(s.Address(), "ys") }

// request returns the status and the body of an answer.
func request(t *testing.T, s *relaytest.Server, method, path, text string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, base(s)+path, strings.NewReader(`{"docId": "made"}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+text)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.Header.Get("Relay-Server-Version") == "" {
		t.Fatal(resp.Header, err)
	}
	return resp.StatusCode, string(body)
}

func (p *peer) send(frame []byte) {
	p.t.Helper()
	if err := p.conn.Write(p.t.Context(), websocket.MessageBinary, frame); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the next frame.
func (p *peer) read() ysync.Frame {
	p.t.Helper()
	_, frame, err := p.conn.Read(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	f, err := ysync.Decode(frame)
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

// handled returns the frames until everything that was sent has been handled.
func (p *peer) handled() (frames []ysync.Frame) {
	p.t.Helper()
	p.send(ysync.AppendEcho(nil, []byte("done")))
	for {
		f := p.read()
		if f.Type == ysync.Echo {
			return frames
		}
		frames = append(frames, f)
	}
}

// event is an event as clients decode it.
type event struct {
	Type     string            `cbor:"event_type"`
	Doc      string            `cbor:"doc_id"`
	User     string            `cbor:"user"`
	Metadata map[string]string `cbor:"metadata"`
	Update   any               `cbor:"update"`
}

// events returns the events of a little more than a second.
func (p *peer) events() (events []event) {
	p.t.Helper()
	time.Sleep(1500 * time.Millisecond)
	for _, f := range p.handled() {
		if f.Type != ysync.Event {
			continue
		}
		var e event
		if err := cbor.Unmarshal(f.Payload, &e); err != nil {
			p.t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func update(text string) []byte {
	doc := ycrdt.NewDoc(ycrdt.Options{})
	doc.Transact(func(tx *ycrdt.Txn) { doc.Text("contents").Insert(tx, 0, text) })
	return doc.EncodeStateAsUpdate(nil)
}

func newKey(t *testing.T, alg token.Algorithm) *token.Key {
	t.Helper()
	key, err := token.GenerateKey("", alg)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Who loads a document fixes its channel: a client of the folder hears of its changes if the
// first token had one, and never after a request for the whole document, whatever came later.
func TestFirstLoaderFixesTheChannel(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{newKey(t, token.HMAC)}})
	folder := dial(t, s, "folder", token.Claims{})
	folder.send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	if frames := folder.handled(); len(frames) != 1 || frames[0].Type != ysync.Sync || frames[0].Step != ysync.Step1 {
		t.Errorf("the server begins with %v", frames)
	}
	text := s.Mint(t, token.Claims{Channel: "folder", Scope: token.Scope{Kind: token.Doc, ID: "silenced"}})
	if code, body := request(t, s, http.MethodGet, "/d/silenced/as-update", text); code != http.StatusOK {
		t.Fatal(code, body)
	}
	for id, silent := range map[string]bool{"reported": false, "silenced": true} {
		note := dial(t, s, id, token.Claims{Channel: "folder"})
		note.send(ysync.AppendUpdate(nil, update(id)))
		note.handled()
		if events := folder.events(); len(events) > 0 == silent {
			t.Errorf("%s: %v", id, events)
		}
	}
}

// Changes of a second are one event, in the name of whoever had the document loaded.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{newKey(t, token.HMAC)}})
	folder := dial(t, s, "folder", token.Claims{})
	folder.send(ysync.AppendSubscribe(nil, ysync.DocumentUpdated))
	first := dial(t, s, "note", token.Claims{Channel: "folder", User: "ann"})
	second := dial(t, s, "note", token.Claims{Channel: "folder", User: "ben"})
	long := strings.Repeat("x", 140_000)
	for i, p := range []*peer{second, first} {
		p.send(ysync.AppendUpdate(nil, update(strings.Repeat(long, 1-i)+"y")))
		p.handled()
	}
	data := [][]byte{}
	deadline := time.After(5 * time.Second)
	for len(data) == 0 {
		select {
		case <-deadline:
			t.Fatal("no event")
		default:
		}
		if f := folder.read(); f.Type == ysync.Event {
			data = append(data, f.Payload)
		}
	}
	var e event
	mode, err := cbor.DecOptions{MaxArrayElements: 1 << 20}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	if err := mode.Unmarshal(data[0], &e); err != nil {
		t.Fatal(err)
	}
	if numbers, ok := e.Update.([]any); !ok || len(numbers) < len(long) || e.User != "ann" || e.Doc != "note" || e.Metadata["channel"] != "folder" {
		t.Errorf("the event has %d numbers, user %q, document %q, metadata %v", len(numbers), e.User, e.Doc, e.Metadata)
	}
	if more := folder.events(); len(more) > 0 {
		t.Errorf("and there is another")
	}
}

// The server writes who wrote.
func TestServerWrites(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{newKey(t, token.HMAC)}})
	doc := ycrdt.NewDoc(ycrdt.Options{ClientID: 77})
	doc.Transact(func(tx *ycrdt.Txn) {
		_ = doc.Map("docs").Set(tx, "/a.md", "a")
	})
	p := dial(t, s, "folder", token.Claims{User: "ann"})
	for range 2 {
		p.send(ysync.AppendUpdate(nil, doc.EncodeStateAsUpdate(nil)))
	}
	for _, f := range p.handled() {
		if f.Type == ysync.Sync && f.Step == ysync.Update {
			if err := doc.ApplyUpdate(f.Payload); err != nil {
				t.Fatal(err)
			}
		}
	}
	if users := s.Users("folder"); len(users) != 1 || !slices.Equal(users["ann"], []ycrdt.ClientID{77}) {
		t.Errorf("users are %v", users)
	}
}

func TestUnloads(t *testing.T) {
	t.Parallel()
	const checkpoint = 100 * time.Millisecond
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{newKey(t, token.HMAC)}, Checkpoint: checkpoint})
	note := dial(t, s, "note", token.Claims{Channel: "folder"})
	time.Sleep(4 * checkpoint)
	dial(t, s, "folder", token.Claims{})
	if n := len(s.Loads()); n != 2 {
		t.Errorf("the folder was unloaded under its note: %v", s.Loads())
	}
	note.conn.CloseNow()
	deadline := time.Now().Add(10 * time.Second)
	for len(s.Loads()) < 3 && time.Now().Before(deadline) {
		time.Sleep(4 * checkpoint)
		dial(t, s, "note", token.Claims{}).conn.CloseNow()
	}
	if loads := s.Loads(); len(loads) != 3 || loads[2].Channel != "note" {
		t.Errorf("loaded are %v", loads)
	}
}

func TestTruncated(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{Types: relaytest.AllTypes})
	s.Put(t, "note", update("text"))
	s.Truncate("note")
	if code, body := request(t, s, http.MethodGet, "/d/note/as-update", ""); code != http.StatusInternalServerError || !strings.Contains(body, "note/data.ysweet") {
		t.Errorf("%d %s", code, body)
	}
	if _, code := connect(t, s, "note", ""); code != http.StatusInternalServerError {
		t.Errorf("the websocket is refused with %d", code)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	type ask struct{ method, path string }
	paths := []ask{
		{http.MethodPost, "/doc/new"}, {http.MethodPost, "/doc/note/auth"}, {http.MethodGet, "/d/note/as-update"},
		{http.MethodGet, "/d/note/versions"}, {http.MethodGet, "/f/note/download-url?hash=00"},
	}
	scopes := map[string]token.Scope{
		"server": {Kind: token.Server}, "document": {Kind: token.Doc, ID: "note", Permission: token.Full},
		"other document": {Kind: token.Doc, ID: "other", Permission: token.Full},
		"prefix":         {Kind: token.Prefix, ID: "no", Permission: token.Full}, "reading": {Kind: token.Doc, ID: "none"},
	}
	// The statuses of paths, and that of a websocket.
	for name, want := range map[string][]int{
		"legacy, default, server":         {401, 401, 401, 401, 401, 0},
		"legacy, default, document":       {403, 401, 200, 500, 400, 0},
		"legacy, default, other document": {403, 401, 401, 401, 400, 403},
		"legacy, default, prefix":         {401, 401, 401, 401, 401, 0},
		"legacy, all, server":             {200, 200, 200, 500, 200, 0},
		"legacy, all, prefix":             {403, 401, 200, 500, 400, 0},
		"CBOR, default, server":           {401, 500, 401, 401, 401, 401},
		"CBOR, default, document":         {403, 500, 200, 500, 400, 0},
		"CBOR, default, other document":   {403, 500, 401, 401, 400, 403},
		"CBOR, default, prefix":           {401, 500, 401, 401, 401, 0},
		"CBOR, all, server":               {401, 500, 401, 401, 401, 401},
		"CBOR, all, prefix":               {403, 500, 200, 500, 400, 0},
	} {
		parts := strings.Split(name, ", ")
		alg, o := token.HMAC, relaytest.Options{}
		if parts[0] == "legacy" {
			alg = token.Legacy
		}
		if parts[1] == "all" {
			o.Types = relaytest.AllTypes
		}
		o.Keys = []*token.Key{newKey(t, alg)}
		s := relaytest.New(t, o)
		s.Put(t, "note", update("text"))
		text := s.Mint(t, token.Claims{Scope: scopes[parts[2]]})
		var got []int
		for _, a := range paths {
			code, body := request(t, s, a.method, a.path, text)
			if code != http.StatusOK && !strings.HasPrefix(body, "Something went wrong: ") {
				t.Errorf("%s: %v is refused with %q", name, a, body)
			}
			got = append(got, code)
		}
		_, code := connect(t, s, "note", text)
		if got = append(got, code); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if _, code := connect(t, s, "note", "id."+text); code != http.StatusUnauthorized {
			t.Errorf("%s: with an id before it %d", name, code)
		}
		if _, code := connect(t, s, "none", s.Mint(t, token.Claims{Scope: scopes["reading"]})); code != http.StatusNotFound {
			t.Errorf("%s: a document that there is not: %d", name, code)
		}
	}
}

// A change comes back to its sender, too. That of a client which may only read is dropped.
func TestEchoes(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{newKey(t, token.HMAC)}})
	s.Put(t, "note", update("text"))
	writer := dial(t, s, "note", token.Claims{})
	reader, code := connect(t, s, "note", s.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Doc, ID: "note"}}))
	if reader == nil {
		t.Fatal(code)
	}
	writer.handled()
	reader.send(ysync.AppendUpdate(nil, update("dropped ")))
	reader.handled()
	writer.send(ysync.AppendUpdate(nil, update("taken ")))
	for _, p := range []*peer{writer, reader} {
		if frames := p.handled(); len(frames) != 1 || frames[0].Step != ysync.Update {
			t.Errorf("one of both hears %v", frames)
		}
	}
	if text := s.Text("note"); text != "taken text" && text != "texttaken " {
		t.Errorf("the text is %q", text)
	}
}

// A token of a CBOR key is for the url of the server, byte for byte.
func TestAudience(t *testing.T) {
	t.Parallel()
	key := newKey(t, token.HMAC)
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{key}, URL: "https://relay.example"})
	for audience, want := range map[string]int{"https://relay.example": 0, "https://relay.example/": 401, "https://RELAY.example": 401, base(s): 401, "": 401} {
		text, err := key.Mint(token.Claims{
			Scope: token.Scope{Kind: token.Doc, ID: "note", Permission: token.Full}, Audience: audience, Expires: time.Now().Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, code := connect(t, s, "note", text); code != want {
			t.Errorf("%q: %d, want %d", audience, code, want)
		}
	}
}

// Bytes of attachments are taken from and given to file tokens only, by their hash.
func TestFiles(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{newKey(t, token.HMAC)}, Types: relaytest.AllTypes})
	const sum = "3b9c358f36f0a31b6ad3e14f309c7cf198ac9246e8316f9ce543d5b19ac02b80" // of "file"
	file := s.Mint(t, token.Claims{Scope: token.Scope{Kind: token.File, ID: "f", Hash: sum, Permission: token.Full}})
	other := s.Mint(t, token.Claims{Scope: token.Scope{Kind: token.Doc, ID: "f", Permission: token.Full}})
	for _, ask := range []struct {
		method, path, token string
		want                int
	}{
		{http.MethodPost, "/f/f/upload-url", other, 400}, {http.MethodPost, "/f/f/upload-url", file, 200},
		{http.MethodGet, "/f/f/download", file, 404}, {http.MethodPut, "/f/f/upload", file, 400}, // of other bytes
		{http.MethodGet, "/f/f/download-url?hash=" + sum, other, 400}, {http.MethodGet, "/f/f/download-url?hash=" + sum, file, 200},
	} {
		if code, body := request(t, s, ask.method, ask.path, ask.token); code != ask.want {
			t.Errorf("%s %s: %d %s, want %d", ask.method, ask.path, code, body, ask.want)
		}
	}
}

// A token that expires ends a websocket only if it is y-sweet's.
func TestExpiry(t *testing.T) {
	t.Parallel()
	for name, alg := range map[string]token.Algorithm{"legacy": token.Legacy, "CBOR": token.HMAC} {
		key := newKey(t, alg)
		s := relaytest.New(t, relaytest.Options{Keys: []*token.Key{key}})
		text, err := key.Mint(token.Claims{
			Scope: token.Scope{Kind: token.Doc, ID: "note", Permission: token.Full}, Audience: base(s), Expires: time.Now().Add(1500 * time.Millisecond),
		})
		if err != nil {
			t.Fatal(err)
		}
		p, code := connect(t, s, "note", text)
		if p == nil {
			t.Fatalf("%s: %d", name, code)
		}
		p.handled()
		time.Sleep(2500 * time.Millisecond)
		p.send(ysync.AppendEcho(nil, nil))
		_, _, err = p.conn.Read(t.Context())
		if ended := websocket.CloseStatus(err) == websocket.StatusPolicyViolation; ended != (alg == token.Legacy) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestQueries(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{})
	p, _ := connect(t, s, "folder", "")
	p.handled()
	for n, answers := range map[int]int{0: 0, 1: 1, 100: 1, 101: 0} {
		p.send(ysync.AppendQuerySubdocs(nil, slices.Repeat([]string{"note"}, n)...))
		if got := len(p.handled()); got != answers {
			t.Errorf("%d ids: %d answers", n, got)
		}
	}
}

// A client that does not read loses frames, and not its connection.
func TestDrops(t *testing.T) {
	t.Parallel()
	s := relaytest.New(t, relaytest.Options{})
	slow, _ := connect(t, s, "note", "")
	writer, _ := connect(t, s, "note", "")
	slow.handled()
	writer.handled()
	const updates = 3000
	text := strings.Repeat("x", 10_000) // more than what the network buffers
	doc := ycrdt.NewDoc(ycrdt.Options{})
	var made []byte
	doc.OnUpdate(func(update []byte) { made = update })
	for range updates {
		doc.Transact(func(tx *ycrdt.Txn) { doc.Map("m").Set(tx, "k", text) })
		writer.send(ysync.AppendUpdate(nil, made))
		writer.handled()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	got := 0
	for ; ; got++ {
		if _, _, err := slow.conn.Read(ctx); err != nil {
			if ctx.Err() == nil {
				t.Errorf("the connection has ended: %v", err)
			}
			break
		}
	}
	if got == 0 || got >= updates {
		t.Errorf("of %d updates %d came", updates, got)
	}
}
