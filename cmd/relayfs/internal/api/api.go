// Package api is the door to a process that owns vaults: one HTTP API, and its client. The owner serves it on its
// socket, a command without an owner to itself, in memory; docs/review-api.md has the part that the review page serves
// to other programs. An error is a sentence with a status for its kind, and what to do about it as a header.
//
// Locks: Refusals.mu alone.
package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/mcpserver"
)

// Paths of the API. Each takes owner.SourceParam too.
const (
	suggestionsPath = "/suggestions" // query: context, path, author, session, kind
	threadsPath     = "/threads"     // query: path
	pendingPath     = "/pending"     // query: path, once for each
	notePath        = "/note"        // query: path
	journalPath     = "/journal"     // query: limit
	eventsPath      = "/events"      // a stream, see serveEvents
	commentPath     = "/comment"     // POST a reviewqueue.CommentRequest
	resolvePath     = "/resolve"     // POST a reviewqueue.ResolveRequest
	decidePath      = "/decide"      // POST a reviewqueue.DecideRequest
	undoPath        = "/undo"        // POST a reviewqueue.UndoRequest

	textPath     = "/text"       // query: path; the bytes
	namesPath    = "/names"      // query: path, recursive
	callPath     = "/call"       // POST a CallRequest
	historyPath  = "/history"    // query: path
	pastPath     = "/past"       // query: path, when (history.When as JSON)
	statusPath   = "/status"     // what is served
	readyPath    = "/readyz"     // why changes are not stored
	refusalsPath = "/refusals"   // query: path
	storesPath   = "/kept"       // the folders whose state is kept
	storePath    = "/kept/store" // query: folder; the bytes of a store
)

// SessionPath is where an owner with a mount names the session that the client's process is in there.
const SessionPath = "/session"

// ReviewRoutes are the routes that the review page serves to other programs.
func ReviewRoutes() []string {
	return []string{
		"GET " + suggestionsPath, "GET " + threadsPath, "GET " + pendingPath, "GET " + notePath, "GET " + journalPath, "GET " + eventsPath,
		"POST " + commentPath, "POST " + resolvePath, "POST " + decidePath, "POST " + undoPath,
	}
}

// Backend is what a handler answers from.
type Backend struct {
	Workspace *bridge.Workspace
	MCP       *mcpserver.Server
	Stores    []backup.Folder
	Guarded   func() (folders []model.Path, why string) // see reviewqueue.Queue.Guarded; nil for none
	Refusals  func(model.Path) []model.Refusal          // the newest refusals about a path, the newest first; nil for none
}

type handler struct {
	Backend
	queue *reviewqueue.Queue
}

// NewHandler returns a handler of the API. What changes something is carried out to the end even if the client goes
// away, because nobody has asked for half of it. Who decides is the user of this machine.
func NewHandler(s Backend) http.Handler {
	h := &handler{s, reviewqueue.New(s.Workspace)}
	h.queue.Guarded = s.Guarded
	mux := http.NewServeMux()
	HandleGet(mux, owner.AlivePath, func(*http.Request) (any, error) { return struct{}{}, nil })
	h.handleQueue(mux)
	mux.HandleFunc("GET "+textPath, h.text)
	HandleGet(mux, namesPath, func(r *http.Request) (any, error) {
		return h.names(r.Context(), r.FormValue("path"), r.FormValue("recursive") != "")
	})
	HandlePost(mux, callPath, mutating(h, h.call))
	HandleGet(mux, historyPath, func(r *http.Request) (any, error) { return h.history(r.Context(), r.FormValue("path")) })
	HandleGet(mux, pastPath, func(r *http.Request) (any, error) {
		var when history.When
		if err := json.Unmarshal([]byte(r.FormValue("when")), &when); err != nil {
			return nil, cli.Usage(err)
		}
		return h.show(r.Context(), r.FormValue("path"), when)
	})
	HandleGet(mux, statusPath, func(r *http.Request) (any, error) { return h.Workspace.Status(r.Context()) })
	HandleGet(mux, readyPath, func(*http.Request) (any, error) { return struct{}{}, h.Workspace.Ready() })
	HandleGet(mux, refusalsPath, func(r *http.Request) (any, error) {
		if h.Refusals == nil {
			return []model.Refusal{}, nil
		}
		return h.Refusals(model.Path(r.FormValue("path"))), nil
	})
	HandleGet(mux, storesPath, func(r *http.Request) (any, error) { return h.stores(r.Context()) })
	HandleGet(mux, owner.CheckPath, func(*http.Request) (any, error) { return h.check(), nil })
	mux.HandleFunc("GET "+storePath, h.store)
	return mux
}

// mutating is do, which changes something. Before it is answered the mount shows the change.
func mutating[Q, A any](h *handler, do func(context.Context, Q) (A, error)) func(context.Context, Q) (A, error) {
	return func(ctx context.Context, req Q) (A, error) {
		defer h.Workspace.AwaitMount(ctx)
		return do(ctx, req)
	}
}

func (h *handler) handleQueue(mux *http.ServeMux) {
	HandleGet(mux, suggestionsPath, func(r *http.Request) (any, error) {
		sel, err := h.selected(r)
		if err != nil {
			return nil, err
		}
		list, err := h.queue.List(r.Context(), r.FormValue("context") != "")
		if err != nil || sel.Empty() {
			return list, err
		}
		return sel.Choose(list, nil)
	})
	HandleGet(mux, threadsPath, func(r *http.Request) (any, error) {
		sel, err := h.selected(r)
		if err != nil {
			return nil, err
		}
		list, err := h.queue.Threads(r.Context())
		return slices.DeleteFunc(list, func(t reviewqueue.Thread) bool { return !sel.Matches(&reviewqueue.Suggestion{Path: t.Path}) }), err
	})
	HandleGet(mux, pendingPath, func(r *http.Request) (any, error) { return h.queue.Pending(r.Context(), r.URL.Query()["path"]) })
	HandleGet(mux, notePath, func(r *http.Request) (any, error) { return h.queue.Note(r.Context(), r.FormValue("path")) })
	HandleGet(mux, journalPath, func(r *http.Request) (any, error) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil || limit < 0 {
			return nil, cli.Usagef("limit is not a number")
		}
		return h.queue.Log(r.Context(), limit)
	})
	mux.HandleFunc("GET "+eventsPath, serveEvents(h.queue))
	HandlePost(mux, commentPath, mutating(h, func(ctx context.Context, r reviewqueue.CommentRequest) (reviewqueue.Outcome, error) {
		r.By = reviewqueue.Reviewer()
		return h.queue.Comment(context.WithoutCancel(ctx), r)
	}))
	HandlePost(mux, resolvePath, mutating(h, func(ctx context.Context, r reviewqueue.ResolveRequest) (reviewqueue.Outcome, error) {
		r.By = reviewqueue.Reviewer()
		return h.queue.Resolve(context.WithoutCancel(ctx), r)
	}))
	HandlePost(mux, decidePath, mutating(h, func(ctx context.Context, r reviewqueue.DecideRequest) (reviewqueue.Outcome, error) {
		r.By = reviewqueue.Reviewer()
		return h.queue.Decide(context.WithoutCancel(ctx), r)
	}))
	HandlePost(mux, undoPath, mutating(h, func(ctx context.Context, r reviewqueue.UndoRequest) (reviewqueue.Outcome, error) {
		r.By = reviewqueue.Reviewer()
		return h.queue.Undo(context.WithoutCancel(ctx), r)
	}))
}

// selected are the conditions of a query. Their names are those of the flags.
func (h *handler) selected(r *http.Request) (s reviewqueue.Selector, err error) {
	s = reviewqueue.Selector{Glob: r.FormValue("path"), Author: r.FormValue("author"), Session: r.FormValue("session"), Kind: r.FormValue("kind")}
	err = s.Check(nil)
	if err == nil {
		err = s.ReadGlob(func() ([]string, error) {
			list, err := h.names(r.Context(), "", true)
			if err != nil {
				return nil, err
			}
			pending, err := h.queue.List(r.Context(), false)
			return pathsOf(list, pending), err
		})
	}
	if flag, ok := strings.CutPrefix(fmt.Sprint(err), "--"); ok {
		err = cli.Usagef("%s", flag)
	}
	return s, err
}

// store answers with the bytes of a store.
// stores are the folders whose state is kept, with what is kept of them.
func (h *handler) stores(ctx context.Context) ([]backup.Folder, error) {
	st, err := h.Workspace.Status(ctx)
	if err != nil {
		return nil, err
	}
	list := slices.Clone(h.Stores)
	for i := range list {
		f := &list[i]
		if f.Notes, err = f.Store.Notes(); err != nil {
			return nil, err
		}
		for _, s := range st.Folders {
			if s.Name == f.Name {
				f.Suggestions = s.Suggestions + s.Proposals
			}
		}
	}
	return list, nil
}

// check reads all that is kept, and says of each folder what is wrong with that.
func (h *handler) check() map[string]string {
	found := make(map[string]string)
	for _, f := range h.Stores {
		found[f.Location] = ""
		if err := f.Store.Check(); err != nil {
			found[f.Location] = err.Error()
		}
	}
	return found
}

func (h *handler) store(w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(h.Stores, func(f backup.Folder) bool { return f.Name == r.FormValue("folder") })
	if i < 0 {
		WriteError(w, fmt.Errorf("no folder %q is kept here", r.FormValue("folder")))
		return
	}
	if err := h.Stores[i].Store.Checkpoint(); err != nil { // what may fail comes before the first byte
		WriteError(w, err)
	} else if h.Stores[i].Store.Copy(w) != nil {
		panic(http.ErrAbortHandler) // the client sees that bytes are missing
	}
}
