package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
)

// plane is a control plane whose tokens are for the server at an address.
type plane struct {
	server string
	asked  int
	life   time.Duration // lifetime of the tokens; 0 if it is unknown
	err    error
}

func (p *plane) Document(_ context.Context, name string) (tok token.ClientToken, expires time.Time, err error) {
	p.asked++
	if p.life != 0 {
		expires = time.Now().Add(p.life)
	}
	return token.NewClientToken(p.server+"/d/"+name, name, "of-document", token.Full), expires, p.err
}

func (p *plane) File(_ context.Context, name, hash, mimetype string, _ int) (token.ClientToken, error) {
	return token.ClientToken{BaseURL: p.server + "/f/" + name, Token: "of-" + hash + "-" + mimetype}, nil
}

// With a control plane documents are fetched and files loaded where its tokens say, with them and nothing else. A token
// that the server rejects is not used again.
func TestControlPlane(t *testing.T) {
	taken := "of-document"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /d/note/as-update", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+taken {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, "update")
	})
	mux.HandleFunc("GET /f/pic/download-url", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer of-0a-image/png" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"downloadUrl":"http://`+r.Host+`/bytes"}`)
	})
	mux.HandleFunc("GET /d/note/ws/note", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) })
	mux.HandleFunc("GET /bytes", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "bytes") })
	server := httptest.NewServer(mux)
	defer server.Close()
	// The control plane itself is asked for nothing.
	address := transport.Address{Kind: transport.Relay, URL: &url.URL{Scheme: "https", Host: "api.invalid"}, Token: "of-the-address"}
	p := &plane{server: server.URL}
	strict := transport.New(address, "folder", nil, p, 1)
	defer strict.Close()
	if _, err := strict.Open(t.Context(), "note"); !errors.Is(err, transport.ErrUnsafeRedirect) {
		t.Errorf("a server without TLS of a service with it: %v", err)
	}
	address.URL.Scheme = "http" // a service on this machine
	s := transport.New(address, "folder", nil, p, 1)
	defer s.Close()

	if got, err := s.Fetch(t.Context(), "note"); err != nil || string(got) != "update" {
		t.Errorf("fetched %q, %v", got, err)
	}
	if err := s.(transport.Creator).Create(t.Context(), "note"); err != nil {
		t.Errorf("create: %v", err)
	}
	var got []byte
	err := s.(transport.Files).Download(t.Context(), "pic", "0a", "image/png", func(r io.Reader) (err error) {
		got, err = io.ReadAll(r)
		return err
	})
	if err != nil || string(got) != "bytes" {
		t.Errorf("downloaded %q, %v", got, err)
	}
	taken, p.asked = "another", 0
	_, err = s.Fetch(t.Context(), "note")
	_, linkErr := s.Open(t.Context(), "note")
	if !errors.Is(err, transport.ErrNotShared) || !errors.Is(linkErr, transport.ErrNotShared) || p.asked != 1 {
		t.Errorf("a rejected token: %v, %v, asked for %d more", err, linkErr, p.asked)
	}
}

// A token is requested once, renewed five minutes before its end, and used to its end if no other is to be had.
func TestRenewal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	address := transport.Address{Kind: transport.Relay, URL: &url.URL{Scheme: "http", Host: "api.invalid"}}
	for name, c := range map[string]struct {
		life  time.Duration
		asked int
		err   error
	}{
		"unknown end":  {0, 1, nil},
		"six minutes":  {6 * time.Minute, 1, nil},
		"four minutes": {4 * time.Minute, 2, nil},
		"ended":        {-time.Second, 2, transport.ErrUnreachable},
	} {
		p := &plane{server: server.URL, life: c.life}
		s := transport.New(address, "folder", nil, p, 1)
		defer s.Close()
		_, first := s.Fetch(t.Context(), "note")
		p.err = transport.ErrUnreachable
		_, second := s.Fetch(t.Context(), "note")
		if first != nil || !errors.Is(second, c.err) || p.asked != c.asked {
			t.Errorf("%s: %v, %v, asked %d times", name, first, second, p.asked)
		}
	}
}
