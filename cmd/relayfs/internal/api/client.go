package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

type Client struct{ owner *owner.Client }

func NewClient(c *owner.Client) *Client { return &Client{c} }

// InProcess returns a client of a handler in this process, which info describes. Call end after use; it waits for requests in progress.
func InProcess(info owner.Info, h http.Handler) (c *Client, end func()) {
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h}
	go srv.Serve(l)
	return &Client{owner.NewClientOf(info, l.dial)}, func() { _ = srv.Shutdown(context.Background()) }
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "in this process", Net: "pipe"} }

func (p *pipes) Close() error {
	close(p.closed)
	return nil
}

func asUsage(err error) error {
	if refused, ok := errors.AsType[*owner.RefusedError](err); ok && refused.Status == http.StatusBadRequest {
		return cli.Usage(err)
	}
	return err
}

func get[A any](ctx context.Context, c *Client, path string, query url.Values) (answer A, err error) {
	err = c.owner.Get(ctx, path, query, &answer)
	return answer, asUsage(err)
}

func post[A any](ctx context.Context, c *Client, path string, request any) (answer A, err error) {
	err = c.owner.Post(ctx, path, request, &answer)
	return answer, asUsage(err)
}

func (c *Client) Owner() owner.Info { return c.owner.Info() }

// Forward sends a request of another client to the owner, and calls take with the response.
func (c *Client) Forward(r *http.Request, path string, take func(*http.Response) error) error {
	header := make(http.Header)
	for _, name := range []string{"Content-Type", "Last-Event-ID", "Sec-Fetch-Site"} {
		if v := r.Header.Get(name); v != "" {
			header.Set(name, v)
		}
	}
	body, err := readBody(r)
	if err != nil {
		return err
	}
	return c.owner.Do(r.Context(), r.Method, path, r.URL.Query(), header, body, take)
}

func (c *Client) List(ctx context.Context, detailed bool) ([]reviewqueue.Suggestion, error) {
	return c.Select(ctx, reviewqueue.Selector{}, detailed)
}

func (c *Client) Select(ctx context.Context, sel reviewqueue.Selector, detailed bool) ([]reviewqueue.Suggestion, error) {
	query := url.Values{"path": {sel.Glob}, "author": {sel.Author}, "session": {sel.Session}, "kind": {sel.Kind}}
	if detailed {
		query.Set("context", "1")
	}
	return get[[]reviewqueue.Suggestion](ctx, c, suggestionsPath, query)
}

func (c *Client) Threads(ctx context.Context, glob string) ([]reviewqueue.Thread, error) {
	return get[[]reviewqueue.Thread](ctx, c, threadsPath, url.Values{"path": {glob}})
}

func (c *Client) Note(ctx context.Context, path string) (reviewqueue.Note, error) {
	return get[reviewqueue.Note](ctx, c, notePath, url.Values{"path": {path}})
}

func (c *Client) Comment(ctx context.Context, r reviewqueue.CommentRequest) (reviewqueue.Outcome, error) {
	return post[reviewqueue.Outcome](ctx, c, commentPath, r)
}

func (c *Client) Resolve(ctx context.Context, r reviewqueue.ResolveRequest) (reviewqueue.Outcome, error) {
	return post[reviewqueue.Outcome](ctx, c, resolvePath, r)
}

func (c *Client) Decide(ctx context.Context, r reviewqueue.DecideRequest) (reviewqueue.Outcome, error) {
	return post[reviewqueue.Outcome](ctx, c, decidePath, r)
}

func (c *Client) Undo(ctx context.Context, r reviewqueue.UndoRequest) (reviewqueue.Outcome, error) {
	return post[reviewqueue.Outcome](ctx, c, undoPath, r)
}

func (c *Client) Log(ctx context.Context, limit int) ([]reviewqueue.LogEntry, error) {
	return get[[]reviewqueue.LogEntry](ctx, c, journalPath, url.Values{"limit": {strconv.Itoa(limit)}})
}

// Text returns the content of the note or file at path, as programs see it on a mount.
func (c *Client) Text(ctx context.Context, path string) ([]byte, error) {
	var text []byte
	err := c.owner.Do(ctx, http.MethodGet, textPath, url.Values{"path": {path}}, nil, nil, func(resp *http.Response) (err error) {
		text, err = io.ReadAll(resp.Body)
		return err
	})
	return text, asUsage(err)
}

func (c *Client) Names(ctx context.Context, path string, recursive bool) ([]Entry, error) {
	query := url.Values{"path": {path}}
	if recursive {
		query.Set("recursive", "1")
	}
	return get[[]Entry](ctx, c, namesPath, query)
}

func (c *Client) ReadGlob(ctx context.Context, sel *reviewqueue.Selector) error {
	return sel.ReadGlob(func() ([]string, error) {
		list, err := c.Names(ctx, "", true)
		if err != nil {
			return nil, err
		}
		pending, err := c.List(ctx, false)
		return pathsOf(list, pending), err
	})
}

func pathsOf(list []Entry, pending []reviewqueue.Suggestion) []string {
	paths := make([]string, 0, len(list)+len(pending))
	for _, l := range list {
		paths = append(paths, l.Path)
	}
	for i := range pending {
		paths = append(paths, pending[i].Path)
	}
	return paths
}

func (c *Client) Call(ctx context.Context, r CallRequest) (CallResult, error) {
	return post[CallResult](ctx, c, callPath, r)
}

func (c *Client) History(ctx context.Context, path string) (NoteHistory, error) {
	return get[NoteHistory](ctx, c, historyPath, url.Values{"path": {path}})
}

func (c *Client) Show(ctx context.Context, path string, when history.Point, view string) (PastNote, error) {
	text, err := json.Marshal(when)
	if err != nil {
		return PastNote{}, err
	}
	return get[PastNote](ctx, c, pastPath, url.Values{"path": {path}, "when": {string(text)}, "view": {view}})
}

func (c *Client) Status(ctx context.Context) (bridge.Status, error) {
	return get[bridge.Status](ctx, c, statusPath, nil)
}

// readyTimeout is the maximum time for which the health check of a page waits for the owner.
const readyTimeout = 5 * time.Second

func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	return c.owner.Get(ctx, readyPath, nil, new(struct{}))
}

func (c *Client) Refusals(ctx context.Context, p model.Path) ([]model.Refusal, error) {
	return get[[]model.Refusal](ctx, c, refusalsPath, url.Values{"path": {string(p)}})
}

func (c *Client) Session(ctx context.Context) (string, error) {
	return get[string](ctx, c, SessionPath, nil)
}

func (c *Client) Stores(ctx context.Context) ([]backup.Folder, error) {
	return get[[]backup.Folder](ctx, c, storesPath, nil)
}

func (c *Client) Copy(ctx context.Context, folder string, w io.Writer) error {
	return c.owner.Do(ctx, http.MethodGet, storePath, url.Values{"folder": {folder}}, nil, nil, func(resp *http.Response) error {
		_, err := io.Copy(w, resp.Body)
		return err
	})
}
