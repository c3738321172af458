package yserve_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/yserve/host"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// patience is how long a test waits for what comes by itself.
var patience = limittest.Scaled(time.Minute)

// served is a workspace with one note, behind a server on loopback.
type served struct {
	*bridgetest.Fixture
	t      *testing.T
	host   *host.Host
	server *yserve.Server
	url    string
	key    *token.Key
}

// serve starts a server with a key; opts change its options.
func serve(t *testing.T, opts ...func(*yserve.Options)) *served {
	t.Helper()
	f := bridgetest.New(t, map[string]string{"Notes/Plan.md": "one\n"})
	h, err := host.New(t.Context(), host.Options{Workspace: f.Workspace, Blobs: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	key, err := token.GenerateKey("", token.HMAC)
	if err != nil {
		t.Fatal(err)
	}
	o := yserve.Options{Host: h, Keys: token.Ring{key}, Mint: key}
	for _, change := range opts {
		change(&o)
	}
	s := yserve.New(o)
	listener := httptest.NewServer(s)
	t.Cleanup(func() {
		s.Close()
		listener.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return &served{Fixture: f, t: t, host: h, server: s, url: listener.URL, key: key}
}

// open is an option: no tokens.
func open(o *yserve.Options) { o.Keys, o.Mint = nil, nil }

func (s *served) id(path string) string {
	s.t.Helper()
	id, ok := s.host.Named(path)
	if !ok {
		s.t.Fatalf("nothing is named %q", path)
	}
	return id
}

func (s *served) mint(scope string, c token.Claims) string {
	s.t.Helper()
	var err error
	if c.Scope, err = token.ParseScope(scope); err != nil {
		s.t.Fatal(err)
	}
	text, err := s.key.Mint(c)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// call makes a request and returns its status and body.
func (s *served) call(method, path, tok, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if tok != "" {
		r.Header.Set("Authorization", "Bearer "+tok)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

// clientToken asks for access to a document as a backend does.
func (s *served) clientToken(id, request string) token.ClientToken {
	s.t.Helper()
	status, body := s.call("POST", "/doc/"+id+"/auth", s.mint("server", token.Claims{}), request)
	var ct token.ClientToken
	if err := json.Unmarshal([]byte(body), &ct); status != 200 || err != nil {
		s.t.Fatalf("auth of %s: %d %s", id, status, body)
	}
	return ct
}

// peer is a Yjs client with one websocket.
type peer struct {
	t    *testing.T
	ws   *websocket.Conn
	doc  *ycrdt.Doc
	stop func()
	done chan struct{} // closed when read has ended

	decode func([]byte) (ysync.Frame, error)
	follow bool // doc follows the frames

	mu     sync.Mutex // protects the following
	frames []ysync.Frame
	wake   chan struct{}
	err    error // why the connection ended
}

// dial connects to a websocket; a step 1 is sent and steps 1 are answered.
func (s *served) dial(url string) *peer {
	s.t.Helper()
	p := s.connect(url)
	p.follow = true
	go p.read()
	p.send(ysync.AppendStep1(nil, p.doc.EncodeStateVector()))
	return p
}

// connect connects to a websocket. The caller starts read.
func (s *served) connect(url string) *peer {
	s.t.Helper()
	ws, res, err := websocket.Dial(s.t.Context(), url, nil)
	if err != nil {
		if res != nil {
			s.t.Fatalf("dial %s: %v, status %d", url, err, res.StatusCode)
		}
		s.t.Fatalf("dial %s: %v", url, err)
	}
	ws.SetReadLimit(-1)
	p := &peer{t: s.t, ws: ws, doc: ycrdt.NewDoc(ycrdt.Options{}), decode: ysync.Decode, done: make(chan struct{}), wake: make(chan struct{})}
	p.stop = sync.OnceFunc(func() {
		_ = ws.Close(websocket.StatusNormalClosure, "")
		<-p.done
	})
	s.t.Cleanup(p.stop)
	return p
}

// join connects to a document with a token of its own.
func (s *served) join(id, user string) *peer {
	s.t.Helper()
	return s.dial(s.url + "/d/" + id + "/ws/" + id + "?token=" + s.mint("doc:"+id+":rw", token.Claims{User: user}))
}

func (p *peer) read() {
	defer close(p.done)
	for {
		_, data, err := p.ws.Read(context.Background())
		if err != nil {
			p.note(ysync.Frame{}, err)
			return
		}
		f, err := p.decode(data)
		if err != nil {
			p.t.Errorf("frame %x: %v", data, err)
			continue
		}
		if f.Type == ysync.Sync && p.follow {
			reply, err := f.Apply(p.doc, "server")
			if err != nil {
				p.t.Error(err)
			}
			if reply != nil {
				p.send(reply)
			}
		}
		p.note(f, nil)
	}
}

func (p *peer) note(f ysync.Frame, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.frames = append(p.frames, f)
	}
	p.err = err
	close(p.wake)
	p.wake = make(chan struct{})
}

func (p *peer) send(frame []byte) {
	if err := p.ws.Write(context.Background(), websocket.MessageBinary, frame); err != nil {
		p.t.Logf("send: %v", err)
	}
}

// until waits until ok is true of the state that the frames led to.
func (p *peer) until(what string, ok func() bool) {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		wake := p.wake
		p.mu.Unlock()
		if ok() {
			return
		}
		select {
		case <-wake:
		case <-deadline:
			p.t.Fatalf("not in time: %s", what)
		}
	}
}

func (p *peer) untilText(want string) {
	p.t.Helper()
	p.until("the text is "+want, func() bool { return p.text() == want })
}

// frame waits for a frame of a type, and takes it.
func (p *peer) frame(typ ysync.Type) (f ysync.Frame) {
	p.t.Helper()
	p.until("a frame comes", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		for i := range p.frames {
			if p.frames[i].Type == typ {
				f = p.frames[i]
				p.frames = append(p.frames[:i:i], p.frames[i+1:]...)
				return true
			}
		}
		return false
	})
	return f
}

// closed waits for the end of the connection and returns its code.
func (p *peer) closed() websocket.StatusCode {
	p.t.Helper()
	p.until("the connection ends", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.err != nil
	})
	return websocket.CloseStatus(p.err)
}

func (p *peer) text() string { return p.doc.Text("contents").String() }

// insert types into the document and returns when the server has acknowledged it.
func (p *peer) insert(pos int, text string) {
	p.t.Helper()
	p.typed(pos, text)
	p.sync()
}

// typed types into the document without waiting.
func (p *peer) typed(pos int, text string) {
	before := p.doc.EncodeStateVector()
	p.doc.Transact("me", func(txn *ycrdt.Txn) { p.doc.Text("contents").Insert(txn, pos, text) })
	p.send(ysync.AppendUpdate(nil, p.doc.EncodeStateAsUpdate(before)))
}

// sync returns when the server has done what was sent before.
func (p *peer) sync() {
	p.t.Helper()
	p.send(ysync.AppendEcho(nil, []byte("mark")))
	if f := p.frame(ysync.Echo); string(f.Payload) != "mark" {
		p.t.Errorf("echo is %q", f.Payload)
	}
}

// untilFile waits until a file of the vault has a text.
func (s *served) untilFile(path, want string) {
	s.t.Helper()
	for end := time.Now().Add(patience); s.SourceText(path) != want; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s has %q, want %q", path, s.SourceText(path), want)
		}
	}
}

func (s *served) read(path model.Path) string {
	s.t.Helper()
	v, err := s.Open(s.t.Context(), path)
	if err != nil {
		s.t.Fatal(err)
	}
	return v.Text()
}
