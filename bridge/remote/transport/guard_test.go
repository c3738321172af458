package transport

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
)

// front is a server with TLS, and another one without, which must get no request.
type front struct {
	t       *testing.T
	key     *token.Key
	address Address
	secure  *httptest.Server
	clear   *httptest.Server
	stray   atomic.Int32 // requests without TLS
}

func newFront(t *testing.T, handler func(f *front, w http.ResponseWriter, r *http.Request)) *front {
	t.Helper()
	f := &front{t: t}
	f.clear = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { f.stray.Add(1) }))
	t.Cleanup(f.clear.Close)
	f.secure = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler(f, w, r) }))
	f.secure.Config.ErrorLog = log.New(io.Discard, "", 0) // clients that trust no certificate
	f.secure.StartTLS()
	t.Cleanup(f.secure.Close)
	var err error
	if f.key, err = token.GenerateKey("", token.HMAC); err != nil {
		t.Fatal(err)
	}
	if f.address, err = ParseAddress("yss" + strings.TrimPrefix(f.secure.URL, "https")); err != nil {
		t.Fatal(err)
	}
	f.address.Token = f.mint(token.Scope{Kind: token.Server})
	return f
}

func (f *front) mint(scope token.Scope) string {
	f.t.Helper()
	text, err := f.key.Mint(token.Claims{Scope: scope, Expires: time.Now().Add(time.Hour)})
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

// server returns a client that trusts the certificate.
func (f *front) server(key *token.Key) *ysweet {
	s := New(f.address, "folder", key, nil, 1).(*ysweet)
	s.guard.RoundTripper = f.secure.Client().Transport
	return s
}

// After an address with TLS, nothing that the server says sends the token without TLS, or
// to another host.
func TestTokensKeepToTheAddress(t *testing.T) {
	ctx := context.Background()
	open := func(f *front) error { _, err := f.server(nil).Open(ctx, "note"); return err }
	openWithKey := func(f *front) error { _, err := f.server(f.key).Open(ctx, "note"); return err }
	fetch := func(f *front) error { _, err := f.server(nil).Fetch(ctx, "note"); return err }
	hocuspocus := func(f *front) error {
		a := f.address
		a.Kind = Hocuspocus
		s := New(a, "folder", nil, nil, 1).(*hocuspocus)
		s.client.Transport.(*guard).RoundTripper = f.secure.Client().Transport
		_, err := s.Open(ctx, "note")
		return err
	}
	download := func(f *front) error {
		return f.server(f.key).Download(ctx, "file", "00", "", func(io.Reader) error { return nil })
	}
	upload := func(f *front) error { return f.server(f.key).Upload(ctx, "file", "00", "image/png", nil) }
	// answers with JSON that has the text in place of URL
	says := func(text string) func(*front, http.ResponseWriter, *http.Request) {
		return func(f *front, w http.ResponseWriter, r *http.Request) {
			to := strings.NewReplacer("CLEAR", strings.TrimPrefix(f.clear.URL, "http"), "TOKEN", f.mint(token.Scope{Kind: token.Doc, ID: "note"}))
			_, _ = io.WriteString(w, to.Replace(text))
		}
	}
	// refuses is says, after the refusal of the server token for documents
	refuses := func(text string) func(*front, http.ResponseWriter, *http.Request) {
		return func(f *front, w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/as-update") {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			says(text)(f, w, r)
		}
	}
	redirects := func(to string) func(*front, http.ResponseWriter, *http.Request) {
		return func(f *front, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, strings.Replace(to, "CLEAR", strings.TrimPrefix(f.clear.URL, "http"), 1)+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		}
	}
	for name, c := range map[string]struct {
		handler func(*front, http.ResponseWriter, *http.Request)
		do      func(*front) error
	}{
		"document without TLS":     {says(`{"url":"wsCLEAR/d/note/ws","docId":"note","token":"TOKEN","authorization":"full"}`), open},
		"document elsewhere":       {says(`{"url":"wss://other.example/d/note/ws","docId":"note","token":"TOKEN","authorization":"full"}`), open},
		"base elsewhere":           {refuses(`{"url":"wss://127.0.0.1/d/note/ws","baseUrl":"https://other.example/d/note","docId":"note","token":"TOKEN","authorization":"full"}`), fetch},
		"redirect of a request":    {redirects("httpCLEAR"), open},
		"redirect elsewhere":       {redirects("https://other.example"), open},
		"redirect of a socket":     {redirects("httpCLEAR"), openWithKey},
		"redirect, wss":            {redirects("https://other.example"), openWithKey},
		"redirect, token later":    {redirects("https://other.example"), hocuspocus},
		"download without TLS":     {says(`{"downloadUrl":"httpCLEAR/f/file?token=TOKEN"}`), download},
		"upload without TLS":       {says(`{"uploadUrl":"httpCLEAR/f/file?token=TOKEN"}`), upload},
		"redirect of a download":   {redirects("httpCLEAR"), download},
		"redirect of an uploadUrl": {redirects("https://other.example"), upload},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t, c.handler)
			err := c.do(f)
			if !errors.Is(err, ErrUnsafeRedirect) || Hint(err) == "" {
				t.Errorf("error is %v", err)
			}
			if n := f.stray.Load(); n > 0 {
				t.Errorf("%d requests without TLS", n)
			}
			if err != nil && (strings.Contains(err.Error(), "token=") || strings.Contains(err.Error(), f.address.Token)) {
				t.Errorf("the error tells a token: %v", err)
			}
		})
	}
}

// What the server says is followed where the token keeps to the address.
func TestRedirectWithinTheHost(t *testing.T) {
	f := newFront(t, func(f *front, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/doc/note/auth" {
			http.Redirect(w, r, "/new/note/auth", http.StatusTemporaryRedirect)
			return
		}
		_ = json.NewEncoder(w).Encode(token.NewClientToken(f.secure.URL+"/d/note", "note", "x", token.Full))
	})
	if tok, err := f.server(nil).newToken(t.Context(), "note", token.Full); err != nil || tok.Token != "x" {
		t.Errorf("newToken = %+v, %v", tok, err)
	}
}

// An error of TLS does not tell the token in the URL of a websocket.
func TestErrorsWithoutToken(t *testing.T) {
	f := newFront(t, func(*front, http.ResponseWriter, *http.Request) {})
	f.address.Token = f.mint(token.Scope{Kind: token.Prefix, ID: "n"})
	_, err := New(f.address, "folder", nil, nil, 1).Open(t.Context(), "note")
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), f.address.Token) {
		t.Errorf("error is %v", err)
	}
}
