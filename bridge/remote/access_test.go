package remote_test

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/internal/schedule"
	"github.com/relayfs/relayfs/bridge/remote/relaytest"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// guarded is a server with a key, which permits types of tokens, or those that it does by default.
func guarded(t *testing.T, alg token.Algorithm, types ...token.ScopeKind) *server {
	t.Helper()
	id := "k1"
	if alg == token.Legacy {
		id = "" // relay-server takes none
	}
	key, err := token.GenerateKey(id, alg)
	noError(t, err)
	s := &server{t: t, kind: "relay-server", folder: "team", room: "team", keys: []*token.Key{key}, types: types}
	s.start("0")
	t.Cleanup(s.stop)
	return s
}

func (s *server) mint(scope token.Scope) string { return s.own.Mint(s.t, token.Claims{Scope: scope}) }

func withToken(text string) func(*remote.Options, *bridge.Options) {
	return func(o *remote.Options, b *bridge.Options) {
		o.Address.Token = text
		b.Mode = bridge.Direct
	}
}

// Each kind of token that docs/servers.md names opens a folder of a relay-server, by default and
// with all types of tokens allowed.
func TestTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		alg   token.Algorithm
		types []token.ScopeKind
		scope token.Scope
	}{
		"legacy server":         {token.Legacy, nil, token.Scope{Kind: token.Server}},
		"legacy server allowed": {token.Legacy, relaytest.AllTypes, token.Scope{Kind: token.Server}},
		"legacy prefix":         {token.Legacy, nil, token.Scope{Kind: token.Prefix, ID: relayFolder[:37], Permission: token.Full}},
		"CBOR prefix":           {token.HMAC, nil, token.Scope{Kind: token.Prefix, ID: relayFolder[:37], Permission: token.Full}},
		"CBOR prefix allowed":   {token.HMAC, relaytest.AllTypes, token.Scope{Kind: token.Prefix, ID: relayFolder[:37], Permission: token.Full}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := guarded(t, c.alg, c.types...)
			s.folder = relayFolder
			a := mustOpen(t, s, withToken(s.mint(c.scope)))
			a.create("Team/Note.md", "note\n")
			a.awaitSent()
			b := mustOpen(t, s, direct, func(o *remote.Options, _ *bridge.Options) { o.Key = s.keys[0] })
			b.awaitText("Team/Note.md", "note\n")
			b.write("Team/Note.md", func(s string) string { return s + "by key\n" })
			a.awaitText("Team/Note.md", "note\nby key\n")
		})
	}
}

// A token for the folder's document alone opens no note. Who opens one is told so, and does not wait for what cannot come.
func TestRefusedNote(t *testing.T) {
	t.Parallel()
	s := guarded(t, token.HMAC)
	a := mustOpen(t, s, withKey(s.keys[0]))
	a.create("Team/Note.md", "note\n")
	a.awaitSent()
	b := mustOpen(t, s, withToken(s.mint(token.Scope{Kind: token.Doc, ID: s.folder, Permission: token.ReadOnly})))
	b.await("the list of notes", func() bool { return known(b) == 1 })
	for range 2 {
		start := time.Now()
		_, err := b.Open(t.Context(), "Team/Note.md")
		if !errors.Is(err, model.ErrNotFetched) || !strings.Contains(err.Error(), "refuses access") {
			t.Errorf("Open = %v, want ErrNotFetched with the reason", err)
		}
		if took := time.Since(start); took > schedule.ReaderTimeout/2 {
			t.Errorf("Open took %v", took)
		}
	}
}

// What is the matter with the server is told in a sentence with the next step.
func TestRefusals(t *testing.T) {
	t.Parallel()
	s, cbor, allowed := guarded(t, token.Legacy), guarded(t, token.HMAC), guarded(t, token.Legacy, relaytest.AllTypes...)
	const other = "0f1e2d3c-0000-4000-8000-00000000ffff"
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	noError(t, err)
	noError(t, closed.Close())
	nonsense := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("<html>hello</html>"))
	}))
	defer nonsense.Close()
	open1 := startServer(t, "hocuspocus", "right")
	for name, c := range map[string]struct {
		address, folder, token string
		want                   error
	}{
		"wrong token":               {s.address(), s.folder, "wrong", transport.ErrDenied},
		"no token":                  {s.address(), s.folder, "", transport.ErrDenied},
		"wrong folder":              {s.address(), other, s.mint(token.Scope{Kind: token.Server}), transport.ErrNoFolder},
		"wrong folder, allowed":     {allowed.address(), other, allowed.mint(token.Scope{Kind: token.Server}), transport.ErrNoFolder},
		"wrong folder, prefix":      {cbor.address(), other, cbor.mint(token.Scope{Kind: token.Prefix, ID: "0f", Permission: token.Full}), transport.ErrNoFolder},
		"server token in CBOR":      {cbor.address(), s.folder, cbor.mint(token.Scope{Kind: token.Server}), transport.ErrServerToken},
		"key id":                    {s.address(), s.folder, "k1." + s.mint(token.Scope{Kind: token.Server}), transport.ErrKeyID},
		"down":                      {"ys://" + closed.Addr().String(), "f", "", transport.ErrUnreachable},
		"down, y-websocket":         {"ws://" + closed.Addr().String(), "f", "", transport.ErrUnreachable},
		"nonsense":                  {"ys://" + nonsense.Listener.Addr().String(), "f", "", transport.ErrProtocol},
		"nonsense, y-websocket":     {"ws://" + nonsense.Listener.Addr().String(), "f", "", transport.ErrProtocol},
		"wrong token of Hocuspocus": {open1.address(), "team", "wrong", transport.ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, c.address, c.folder, t.TempDir(), withToken(c.token), func(o *remote.Options, _ *bridge.Options) { o.NewFolder = false })
			if !errors.Is(err, c.want) || transport.Hint(err) == "" {
				t.Errorf("error is %v, want %v", err, c.want)
			}
			if err != nil && c.token != "" && strings.Contains(err.Error(), c.token) {
				t.Errorf("the error tells the token: %v", err)
			}
		})
	}
}

// A token for reading makes the folder read-only, and the status says so.
func TestReadOnlyHocuspocus(t *testing.T) {
	t.Parallel()
	s := startServer(t, "hocuspocus", "right", "reader")
	p := s.person("right")
	p.do("create", args{"path": "Note.md", "text": "note\n"})
	c := mustOpen(t, s, withToken("reader"))
	c.awaitText("Team/Note.md", "note\n")
	if c.source.ReadOnlyErr() == nil {
		t.Fatal("folder can be written")
	}
	_, err := c.Write(t.Context(), "Team/Note.md", bridge.Write{Text: "other\n"})
	if !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("Write = %v, want ErrReadOnly", err)
	}
	if _, err := c.Create(t.Context(), "Team/New.md", bridge.Write{Text: "x"}); !errors.Is(err, model.ErrReadOnly) {
		t.Errorf("Create = %v, want ErrReadOnly", err)
	}
	if st := c.source.SyncStatus(); !st.ReadOnly || !strings.Contains(st.LastError, "no changes") {
		t.Errorf("status is %+v", st)
	}
	p.do("insert", args{"path": "Note.md", "at": 0, "text": "still "})
	c.awaitText("Team/Note.md", "still note\n")
}

// A note larger than notes may be is refused in words.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := startServer(t, "relay-server")
	c := mustOpen(t, s, direct)
	_, err := c.Create(t.Context(), "Team/Big.md", bridge.Write{Text: strings.Repeat("x", model.MaxNote+1)})
	if !errors.Is(err, model.ErrTooLarge) {
		t.Errorf("Create = %v, want ErrTooLarge", err)
	}
}
