// Package page serves the review page, the queue of `relayfs suggestions` in a browser: static files,
// and below /api the same JSON that an owner answers on its socket. Neither notes nor the other pages in the
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
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/listen"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
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

// maxBody bounds a request to the API: ids of suggestions, or the new text of one.
const maxBody = 2 * model.MaxNote

// keptName is the file in the state folder of a vault with the port and the token of its newest page. While both
// stay the same, an open page reconnects by itself; programs on this machine find the API by it (docs/review-api.md).
const keptName = "review-page"

// Listen opens the port given, or, if that is "", the one used before, or another if that is taken. state
// is the state folder of the vault.
func Listen(given, state string) (*Page, error) {
	file := filepath.Join(state, keptName)
	kept, _ := secret.Read(file) // "" the first time
	port, token, known := strings.Cut(strings.TrimSpace(kept), " ")
	if !known || len(token) < secret.MinToken {
		port, token = "0", rand.Text()
	}
	l, err := net.Listen("tcp", cmp.Or(given, net.JoinHostPort("127.0.0.1", port)))
	if err != nil {
		l, err = listen.Open("--listen", cmp.Or(given, "127.0.0.1:0"))
	}
	if err != nil {
		return nil, err
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	if now := port + " " + token + "\n"; err == nil && kept != now {
		if err = os.MkdirAll(state, 0o700); err == nil {
			err = secret.Replace(file, []byte(now))
		}
	}
	return &Page{token: token, listener: l}, err
}

// CheckAddress refuses an address that other machines can reach. "" is the default.
func CheckAddress(addr string) error {
	loopback, err := listen.Loopback("--listen", cmp.Or(addr, "127.0.0.1:0"))
	if err == nil && !loopback {
		err = clierr.Usagef("--listen %s can be reached from other machines; the page is for this one: use 127.0.0.1, and an SSH tunnel from elsewhere", addr)
	}
	return err
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

// Serve answers until ctx ends. ready says why changes are not stored, nil if they are.
func (p *Page) Serve(ctx context.Context, q queue.Queue, ready func() error) error {
	srv := listen.NewServer(p.handler(q, ready))
	srv.BaseContext = func(net.Listener) context.Context { return ctx } // ends streams
	if _, err := listen.Serve(ctx, p.listener, srv); err != nil {
		return fmt.Errorf("review page: %w", err)
	}
	return nil
}

func (p *Page) handler(q queue.Queue, ready func() error) http.Handler {
	api := http.NewServeMux()
	handle(api, pageQueue{q})
	mux := http.NewServeMux()
	listen.Health(mux, ready)
	mux.Handle("/api/", http.StripPrefix("/api", p.authorize(http.MaxBytesHandler(api, maxBody))))
	mux.Handle("/", http.FileServerFS(files))
	return p.guard(gzhttp.GzipHandler(mux)) // for who looks through an SSH tunnel
}

// handle serves the API that openapi.json describes.
func handle(mux jsonapi.Mux, q pageQueue) {
	queue.Handle(mux, q)
	jsonapi.HandleGet(mux, documentPath, func(r *http.Request) (any, error) { return q.document(r.Context(), r) })
	jsonapi.HandleGet(mux, descriptionPath, func(*http.Request) (any, error) { return json.RawMessage(description), nil })
}

// guard refuses requests that name another host, as a rebound page does, and sets the page's policy.
func (p *Page) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-store")
		if !p.ours(r.Host) {
			http.Error(w, "this page is served as "+p.listener.Addr().String()+" only", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (p *Page) ours(host string) bool {
	_, port, err := net.SplitHostPort(p.listener.Addr().String())
	return host == p.listener.Addr().String() || err == nil && host == net.JoinHostPort("localhost", port)
}

func (p *Page) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origin := r.Header.Get("Origin"); origin != "" {
			u, err := url.Parse(origin)
			if err != nil || u.Scheme != "http" || !p.ours(u.Host) {
				http.Error(w, "another page may not ask", http.StatusForbidden)
				return
			}
		}
		token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok || subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the page's address has changed: open the one that 'relayfs review' printed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// pageQueue is a queue for the page. Decisions are by this machine's user and on what the page showed,
// whatever a request says. An undo must name its batch, or suggestions. Proposals have the pieces that the page draws.
type pageQueue struct {
	queue.Queue
}

func (q pageQueue) Decide(ctx context.Context, r queue.DecideRequest) (queue.Outcome, error) {
	r.By = queue.Reviewer()
	if r.Reason = queue.TidyReason(r.Reason); len(r.Reason) > queue.MaxReason {
		return queue.Outcome{}, clierr.Usagef("the reason is longer than %d bytes", queue.MaxReason)
	}
	if len(r.Shown) == 0 {
		return queue.Outcome{}, clierr.Usagef("say what was shown: the revision of each suggestion by its id")
	}
	r.IDs = slices.Sorted(maps.Keys(r.Shown))
	return q.Queue.Decide(ctx, r)
}

func (q pageQueue) Undo(ctx context.Context, r queue.UndoRequest) (queue.Outcome, error) {
	r.By = queue.Reviewer()
	if r.Batch == "" && len(r.IDs) == 0 {
		return queue.Outcome{}, clierr.Usagef("say which batch or which suggestions are to be taken back")
	}
	return q.Queue.Undo(ctx, r)
}

func (q pageQueue) Comment(ctx context.Context, r queue.CommentRequest) (queue.Outcome, error) {
	r.By = queue.Reviewer()
	return q.Queue.Comment(ctx, r)
}

func (q pageQueue) Resolve(ctx context.Context, r queue.ResolveRequest) (queue.Outcome, error) {
	r.By = queue.Reviewer()
	return q.Queue.Resolve(ctx, r)
}

func (q pageQueue) List(ctx context.Context, detailed bool) ([]queue.Suggestion, error) {
	list, err := q.Queue.List(ctx, detailed)
	for i := range list {
		if list[i].IsProposal() {
			list[i].Pieces = list[i].InPieces()
		}
	}
	return list, err
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
