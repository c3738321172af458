package yserve_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// named is a frame of Hocuspocus's framing.
func named(name string, body []byte) []byte { return append(ysync.AppendDocument(nil, name), body...) }

// multiplexed connects to the websocket that carries many documents.
func (s *served) multiplexed() *peer {
	s.t.Helper()
	p := s.connect(s.url + "/")
	p.decode = ysync.DecodeHocuspocus
	go p.read()
	return p
}

func tokenFrame(name, text string) []byte { return named(name, ysync.AppendToken(nil, text, "4.7.0")) }

func TestHocuspocus(t *testing.T) {
	s := serve(t)
	p := s.multiplexed()
	const name = "Notes/Plan.md"
	p.send(tokenFrame(name, s.mint("doc:"+s.id(name)+":rw", token.Claims{User: "ann"})))
	if f := p.frame(ysync.Auth); f.Document != name || f.Auth != ysync.Authenticated || f.Text != "read-write" {
		t.Fatalf("the token is answered with %+v", f)
	}
	p.send(named(name, ysync.AppendStep1(nil, []byte{0})))
	for step := range ysync.Update {
		if f := p.frame(ysync.Sync); f.Document != name || f.Step != ysync.Step2-step {
			t.Fatalf("step 1 is answered with %+v", f)
		}
	}
	p.send(named(name, ysync.AppendStep2(nil, []byte{0, 0})))
	p.send(named(name, ysync.AppendUpdate(nil, []byte(update("x")))))
	for range 2 {
		if f := p.frame(ysync.SyncStatus); f.Document != name || !f.Saved {
			t.Errorf("the status is %+v", f)
		}
	}
	if got := s.read(name); !strings.Contains(got, "x") {
		t.Errorf("after the status a reader sees %q", got)
	}
	s.Delete(name)
	if f := p.frame(ysync.Close); f.Document != name {
		t.Errorf("when the note goes there is %+v", f)
	}
	p.send(tokenFrame("other\x00session", s.mint("server", token.Claims{})))
	if f := p.frame(ysync.Auth); f.Auth != ysync.Authenticated || f.Document != "other\x00session" {
		t.Errorf("the other document's token is answered with %+v", f)
	}
}

func TestHocuspocusReadOnly(t *testing.T) {
	s := serve(t)
	const name = "Notes/Plan.md"
	p := s.multiplexed()
	p.send(tokenFrame(name, s.mint("doc:"+s.id(name)+":r", token.Claims{})))
	if f := p.frame(ysync.Auth); f.Text != "readonly" {
		t.Fatalf("the token is answered with %+v", f)
	}
	known := s.join(s.id(name), "")
	known.untilText("one\n")
	p.send(named(name, ysync.AppendStep2(nil, known.doc.EncodeStateAsUpdate(nil))))
	if f := p.frame(ysync.SyncStatus); !f.Saved {
		t.Error("what the server has is refused")
	}
	p.send(named(name, ysync.AppendStep2(nil, []byte(update("x")))))
	p.send(named(name, ysync.AppendUpdate(nil, []byte(update("y")))))
	for range 2 {
		if f := p.frame(ysync.SyncStatus); f.Saved {
			t.Error("a change is said to be saved")
		}
	}
	if got := s.read(name); got != "one\n" {
		t.Errorf("a reader sees %q", got)
	}
}

// One document is refused; the others of the websocket are not affected. Frames
// about documents that are not open are ignored.
func TestHocuspocusRefused(t *testing.T) {
	s := serve(t)
	p := s.multiplexed()
	p.send(named("Notes/Plan.md", ysync.AppendUpdate(nil, []byte(update("x")))))
	for name, text := range map[string]string{
		"Notes/Plan.md":          "nonsense",
		"Notes":                  "",
		"Notes/../../etc/x":      s.mint("server", token.Claims{}),
		strings.Repeat("x", 300): s.mint("server", token.Claims{}),
		s.id("Notes"):            s.mint("doc:other:rw", token.Claims{}),
	} {
		p.send(tokenFrame(name, text))
		if f := p.frame(ysync.Auth); f.Document != name || f.Auth != ysync.PermissionDenied || f.Text == "" {
			t.Errorf("%q: the answer is %+v", name, f)
		}
	}
	p.send(tokenFrame("Notes/Plan.md", s.mint("server", token.Claims{})))
	if f := p.frame(ysync.Auth); f.Auth != ysync.Authenticated {
		t.Errorf("a good token is answered with %+v", f)
	}
	if got := s.read("Notes/Plan.md"); got != "one\n" {
		t.Errorf("a reader sees %q", got)
	}
}

// Who has not shown a token gets little time and little room.
func TestHocuspocusStranger(t *testing.T) {
	s := serve(t, func(o *yserve.Options) { o.Limits.Ping = time.Second })
	silent := s.multiplexed()
	if code := silent.closed(); code != websocket.StatusPolicyViolation {
		t.Errorf("the silent one is ended with %d", code)
	}
	s = serve(t)
	loud := s.multiplexed()
	loud.send(tokenFrame("Notes", strings.Repeat("x", 100<<10)))
	if code := loud.closed(); code != websocket.StatusMessageTooBig {
		t.Errorf("the loud one is ended with %d", code)
	}
	known := s.multiplexed()
	known.send(tokenFrame("Notes/Plan.md", s.mint("server", token.Claims{})))
	known.frame(ysync.Auth)
	doc := ycrdt.NewDoc(ycrdt.Options{})
	doc.Transact(nil, func(txn *ycrdt.Txn) { doc.Text("contents").Insert(txn, 0, strings.Repeat("x", 100<<10)) })
	known.send(named("Notes/Plan.md", ysync.AppendUpdate(nil, doc.EncodeStateAsUpdate(nil))))
	if f := known.frame(ysync.SyncStatus); !f.Saved {
		t.Error("what one with a token writes is not saved")
	}
}
