// Package page serves the review page: the review queue in a browser. A Page serves static files, and below /api the
// review routes of the owner's API and the note as a tree to draw (document.go).
//
// It trusts neither notes nor other web pages in the browser:
//
//   - The port is on loopback, and the Host of a request must be a loopback address, which stops DNS rebinding.
//   - /api requires a token. In the printed address the token comes after the '#'; browsers never send that part.
//   - The Content-Security-Policy admits only the page's own files, and images as data: URLs. A note is a tree of
//     elements and texts; page.js creates only the elements in its list, and never uses HTML from a note.
//
// KaTeX draws formulas. The folder katex has the script of KaTeX, unchanged from npm, and the licence of KaTeX.
package page

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
)

//go:embed index.html *.css *.js katex/katex.min.js
var files embed.FS

//go:embed openapi.json
var description []byte

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const wrongToken = "the page's address has changed: open the new address that 'relayfs review' printed"

// writeTimeout is the maximum time of one write to a client that does not read.
const writeTimeout = time.Minute

// addressFile is a file in the state folder of a vault with the port and the token of its newest page. An open page can
// reconnect as long as both stay the same. Programs on this machine read the file to find the API (docs/review-api.md).
const addressFile = "review-page"

// Listen opens the port that the last page used, or another port if that port is in use. state is the state folder of
// the vault.
func Listen(state owner.Folder) (*Page, error) {
	stored, _ := secret.Read(state.Path(addressFile)) // "" if there was no page before
	port, token, ok := strings.Cut(strings.TrimSpace(stored), " ")
	if !ok || len(token) < secret.MinToken {
		port, token = "0", rand.Text()
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("review page: %w", err)
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	if current := port + " " + token + "\n"; err == nil && stored != current {
		if err = state.Make(); err == nil {
			err = state.Replace(addressFile, []byte(current))
		}
	}
	return &Page{token: token, listener: l}, err
}

type Page struct {
	token    string
	listener net.Listener
}

func (p *Page) URL() string {
	return (&url.URL{Scheme: "http", Host: p.listener.Addr().String(), Path: "/", Fragment: p.token}).String()
}

func (p *Page) Close() { p.listener.Close() }

func (p *Page) Serve(ctx context.Context, c *api.Client) error {
	srv := ports.NewServer(p.handler(c))
	srv.BaseContext = func(net.Listener) context.Context { return ctx } // ends the streams when ctx ends
	if _, err := ports.Serve(ctx, p.listener, srv); err != nil {
		return fmt.Errorf("review page: %w", err)
	}
	return nil
}

func (p *Page) handler(c *api.Client) http.Handler {
	routes := http.NewServeMux()
	p.serveAPI(routes, c)
	mux := http.NewServeMux()
	ports.Health(mux, func() error { return c.Ready(context.Background()) })
	mux.Handle("/api/", http.StripPrefix("/api", ports.Guard(p.token, wrongToken, routes)))
	mux.Handle("/", http.FileServerFS(files))
	return withPolicy(ports.RequireLoopbackHost(gzhttp.GzipHandler(mux))) // compression is useful over SSH tunnels
}

func (p *Page) serveAPI(mux *http.ServeMux, c *api.Client) {
	for _, route := range api.ReviewRoutes() {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) { forward(w, r, c) })
	}
	api.HandleGet(mux, documentPath, func(r *http.Request) (any, error) { return documentOf(r.Context(), c, r) })
	api.HandleGet(mux, "/openapi.json", func(*http.Request) (any, error) { return json.RawMessage(description), nil })
}

// forward sends a request to the owner. It passes the response on as it arrives, because it may be a stream.
func forward(w http.ResponseWriter, r *http.Request, c *api.Client) {
	started := false
	err := c.Forward(r, r.URL.Path, func(resp *http.Response) error {
		started = true
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		out := http.NewResponseController(w)
		piece := make([]byte, 32<<10)
		for {
			n, err := resp.Body.Read(piece)
			if n > 0 {
				_ = out.SetWriteDeadline(time.Now().Add(writeTimeout))
				if _, err := w.Write(piece[:n]); err != nil {
					return err
				}
				if err := out.Flush(); err != nil {
					return err
				}
			}
			if err != nil {
				return nil
			}
		}
	})
	if err != nil && !started {
		api.WriteError(w, err)
	}
}

func withPolicy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func OpenBrowser(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	return exec.CommandContext(ctx, name, args...).Start()
}
