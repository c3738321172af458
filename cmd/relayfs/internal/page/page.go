// Package page serves the review page, the queue of `relayfs suggestions` in a browser: static files,
// and below /api what the owner answers on its socket. Neither notes nor the other pages in the
// browser are trusted:
//
//   - the port is on loopback, and a request must name it as its Host, which a page that DNS has rebound
//     to this address does not;
//   - /api requires a token that only the printed address has, after the '#', where no server and no
//     Referer header gets it;
//   - the Content-Security-Policy lets only the page's own files run; a note comes as a tree of elements
//     that page.js makes of those it knows, with its texts as texts: never as HTML.
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

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/api"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
)

//go:embed index.html *.css *.js
var files embed.FS

// descriptionPath answers with the OpenAPI document of the API.
const descriptionPath = "/openapi.json"

//go:embed openapi.json
var description []byte

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// wrongToken is what a page is told whose token is not right.
const wrongToken = "the page's address has changed: open the one that 'relayfs review' printed"

// writeTimeout is how long a client may take to read what it is sent.
const writeTimeout = time.Minute

// maxBody bounds a request to the API: ids of suggestions, or the new text of one.
const maxBody = 2 * model.MaxNote

// addressFile is the file in the state folder of a vault with the port and the token of its newest page. While both
// stay the same, an open page reconnects by itself; programs on this machine find the API by it (docs/review-api.md).
const addressFile = "review-page"

// Listen opens the port used before, or another if that is taken. state is the state folder of the vault.
func Listen(state owner.Folder) (*Page, error) {
	kept, _ := secret.Read(state.Path(addressFile)) // "" the first time
	port, token, known := strings.Cut(strings.TrimSpace(kept), " ")
	if !known || len(token) < secret.MinToken {
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
	if now := port + " " + token + "\n"; err == nil && kept != now {
		if err = state.Make(); err == nil {
			err = state.Replace(addressFile, []byte(now))
		}
	}
	return &Page{token: token, listener: l}, err
}

// Page serves the review page of one queue.
type Page struct {
	token    string
	listener net.Listener
}

// URL returns the page's address with the token.
func (p *Page) URL() string {
	return (&url.URL{Scheme: "http", Host: p.listener.Addr().String(), Path: "/", Fragment: p.token}).String()
}

// Close closes the port.
func (p *Page) Close() { p.listener.Close() }

// Serve answers until ctx ends, from what c answers.
func (p *Page) Serve(ctx context.Context, c *api.Client) error {
	srv := ports.NewServer(p.handler(c))
	srv.BaseContext = func(net.Listener) context.Context { return ctx } // ends streams
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
	mux.Handle("/api/", http.StripPrefix("/api", ports.Guard(p.token, wrongToken, http.MaxBytesHandler(routes, maxBody))))
	mux.Handle("/", http.FileServerFS(files))
	return withPolicy(ports.RequireLoopbackHost(gzhttp.GzipHandler(mux))) // for who looks through an SSH tunnel
}

// serveAPI serves the API that openapi.json describes: documents as the page draws them, and what the owner answers.
func (p *Page) serveAPI(mux *http.ServeMux, c *api.Client) {
	for _, route := range api.ReviewRoutes() {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) { forward(w, r, c) })
	}
	api.HandleGet(mux, documentPath, func(r *http.Request) (any, error) { return documentOf(r.Context(), c, r) })
	api.HandleGet(mux, descriptionPath, func(*http.Request) (any, error) { return json.RawMessage(description), nil })
}

// forward has the owner answer a request.
func forward(w http.ResponseWriter, r *http.Request, c *api.Client) {
	begun := false
	err := c.Forward(r, r.URL.Path, func(resp *http.Response) error {
		begun = true
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
				return nil // that it has ended is all that is known
			}
		}
	})
	if err != nil && !begun {
		api.WriteError(w, err)
	}
}

// withPolicy sets the policy of the page.
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

// OpenBrowser opens address with the desktop's command.
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
