// Package page serves the review page, the queue of `relayfs suggestions` in a browser:
// three static files, and the same JSON that an owner answers on its socket, below
// /api. Notes are untrusted text, and so is every other page that the browser
// has open, hence:
//
//   - the port is on loopback, and a request must name it as its Host, which a
//     page that was rebound to this address by DNS does not;
//   - /api wants a token that only the printed address has, behind the '#',
//     where no server and no Referer header sees it;
//   - the Content-Security-Policy lets only the page's own files run, and
//     page.js puts text into the document as text, never as HTML.
package page

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/queue"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/secret"
)

//go:embed index.html page.css page.js
var files embed.FS

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// maxBody bounds a request to the page's API: ids of suggestions, or the
// text that one becomes.
const maxBody = 2 * model.MaxNote

// endPatience is how long requests under way may take at the end.
const endPatience = 5 * time.Second

// keptName is the file in a vault's state folder with the port and the token of its
// page: where both stay the same, a page that is open finds its way back by itself.
const keptName = "review-page"

// Listen opens the page's port: given, or else the one that it had before, if that
// is free. state is the state folder of the vault.
func Listen(given, state string) (*Page, error) {
	file := filepath.Join(state, keptName)
	kept, _ := secret.Read(file) // "" the first time
	port, token, known := strings.Cut(strings.TrimSpace(kept), " ")
	if !known || len(token) < secret.MinToken {
		port, token = "0", rand.Text()
	}
	addr := given
	if addr == "" {
		addr = net.JoinHostPort("127.0.0.1", port)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil && given == "" {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, clierr.WithHint(fmt.Errorf("--listen: %w", err), "choose another port; port 0 takes any that is free")
	}
	_, port, err = net.SplitHostPort(l.Addr().String())
	if err == nil && kept == "" {
		_, err = secret.Make(file, port+" "+token)
	}
	return &Page{token: token, listener: l}, err
}

// CheckAddress refuses an address that others can reach. "" stands for the default.
func CheckAddress(addr string) error {
	host, _, err := net.SplitHostPort(cmp.Or(addr, "127.0.0.1:0"))
	if err != nil {
		return clierr.Usagef("--listen %q is not HOST:PORT", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return clierr.Usagef("--listen %s can be reached from other machines; the page is for this one: use 127.0.0.1, and an SSH tunnel from elsewhere", addr)
	}
	return nil
}

// Page serves the review page of one queue.
type Page struct {
	token    string
	listener net.Listener
}

// URL is the page's address with the token behind the '#'.
func (p *Page) URL() string {
	return (&url.URL{Scheme: "http", Host: p.listener.Addr().String(), Path: "/", Fragment: p.token}).String()
}

// Close closes the port.
func (p *Page) Close() { p.listener.Close() }

// Serve answers until ctx ends.
func (p *Page) Serve(ctx context.Context, q queue.Queue) error {
	srv := &http.Server{
		Handler: p.handler(q), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }, // requests that wait for a change end with it
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(p.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("review page: %w", err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	if srv.Shutdown(patience) != nil {
		srv.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (p *Page) handler(q queue.Queue) http.Handler {
	api := http.NewServeMux()
	queue.Handle(api, pageQueue{q})
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", p.authorize(http.MaxBytesHandler(api, maxBody))))
	mux.Handle("/", http.FileServerFS(files))
	return p.guard(mux)
}

// guard refuses requests that name another host, which is what a rebound page
// sends, and tells the browser what the page may do.
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

// ours says whether host is an address of the page: its own, or localhost.
func (p *Page) ours(host string) bool {
	_, port, err := net.SplitHostPort(p.listener.Addr().String())
	return host == p.listener.Addr().String() || err == nil && host == net.JoinHostPort("localhost", port)
}

// authorize wants the token, and no other page as the origin.
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

// pageQueue is a queue whose decisions are this machine's user's, whatever a
// request says, and on what the page showed; it takes back only what it is told by
// name. Its suggestions come with the pieces that the page draws.
type pageQueue struct{ queue.Queue }

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
	if r.Batch == "" {
		return queue.Outcome{}, clierr.Usagef("say which batch is to be taken back")
	}
	return q.Queue.Undo(ctx, r)
}

func (q pageQueue) List(ctx context.Context, detailed bool) ([]queue.Suggestion, error) {
	list, err := q.Queue.List(ctx, detailed)
	for i := range list {
		list[i].Pieces = list[i].InPieces()
	}
	return list, err
}

// OpenBrowser opens address with the desktop's own command.
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
