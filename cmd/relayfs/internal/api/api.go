package api

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/backup"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver"
)

// On the owner's socket, every route also accepts the query parameter owner.SourceParam.
const (
	suggestionsPath = "/suggestions" // query: context, path, author, session, kind
	threadsPath     = "/threads"     // query: path
	pendingPath     = "/pending"     // query: path, which may be repeated
	notePath        = "/note"        // query: path
	imagePath       = "/image"       // query: note, target; the response is the bytes of the image
	journalPath     = "/journal"     // query: limit
	eventsPath      = "/events"      // a stream of events, see serveEvents
	commentPath     = "/comment"     // POST a reviewqueue.CommentRequest
	resolvePath     = "/resolve"     // POST a reviewqueue.ResolveRequest
	decidePath      = "/decide"      // POST a reviewqueue.DecideRequest
	undoPath        = "/undo"        // POST a reviewqueue.UndoRequest

	textPath     = "/text"       // query: path; the response is the bytes of the text
	namesPath    = "/names"      // query: path, recursive
	callPath     = "/call"       // POST a CallRequest
	historyPath  = "/history"    // query: path
	pastPath     = "/past"       // query: path, view, when (history.Point as JSON)
	statusPath   = "/status"     // responds with a bridge.Status
	readyPath    = "/readyz"     // responds with an error if changes cannot be stored
	refusalsPath = "/refusals"   // query: path
	storesPath   = "/kept"       // responds with the roots that have data
	storePath    = "/kept/store" // query: folder; the response is the bytes of a store
)

// SessionPath is the route that returns the session of the client's process. Only an owner with a mount serves this
// route.
const SessionPath = "/session"

func ReviewRoutes() []string {
	return []string{
		"GET " + suggestionsPath, "GET " + threadsPath, "GET " + pendingPath, "GET " + notePath, "GET " + imagePath, "GET " + journalPath, "GET " + eventsPath,
		"POST " + commentPath, "POST " + resolvePath, "POST " + decidePath, "POST " + undoPath,
	}
}

type Backend struct {
	Workspace *bridge.Workspace
	MCP       *mcpserver.Server
	Stores    []backup.Folder
	Guarded   func() (folders []model.Path, why string) // see reviewqueue.Queue.Guarded; may be nil
	Refusals  func(model.Path) []model.Refusal          // refusals about a path, newest first; nil without a mount
}

type handler struct {
	Backend
	queue *reviewqueue.Queue
}

func NewHandler(s Backend) http.Handler {
	h := &handler{s, reviewqueue.New(s.Workspace)}
	h.queue.Guarded = s.Guarded
	mux := http.NewServeMux()
	HandleGet(mux, owner.AlivePath, func(*http.Request) (any, error) { return struct{}{}, nil })
	h.handleQueue(mux)
	mux.HandleFunc("GET "+textPath, h.text)
	mux.HandleFunc("GET "+imagePath, h.image)
	HandleGet(mux, namesPath, func(r *http.Request) (any, error) {
		return h.names(r.Context(), r.FormValue("path"), r.FormValue("recursive") != "")
	})
	HandlePost(mux, callPath, h.call)
	HandleGet(mux, historyPath, func(r *http.Request) (any, error) { return h.history(r.Context(), r.FormValue("path")) })
	HandleGet(mux, pastPath, func(r *http.Request) (any, error) {
		var when history.Point
		if err := json.Unmarshal([]byte(r.FormValue("when")), &when); err != nil {
			return nil, cli.Usagef("when: %w", err)
		}
		view, err := diffwrap.ParseView(r.FormValue("view"))
		if err != nil {
			return nil, cli.Usage(err)
		}
		return h.show(r.Context(), r.FormValue("path"), when, view)
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

// handleChange handles requests that change notes. It completes a change even if the client disconnects. Before it
// responds, it waits a short time until the mount shows the change.
func handleChange[Q, A any](mux *http.ServeMux, path string, h *handler, do func(context.Context, Q) (A, error)) {
	HandlePost(mux, path, func(ctx context.Context, req Q) (A, error) {
		defer h.Workspace.AwaitMount(ctx)
		return do(context.WithoutCancel(ctx), req)
	})
}

func (h *handler) handleQueue(mux *http.ServeMux) {
	HandleGet(mux, suggestionsPath, func(r *http.Request) (any, error) {
		sel, err := h.selected(r)
		if err != nil {
			return nil, err
		}
		list, err := h.queue.List(r.Context(), r.FormValue("context") != "")
		return slices.DeleteFunc(list, func(s reviewqueue.Suggestion) bool { return !sel.Matches(&s) }), err
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
	handleChange(mux, commentPath, h, h.queue.Comment)
	handleChange(mux, resolvePath, h, h.queue.Resolve)
	handleChange(mux, decidePath, h, h.queue.Decide)
	handleChange(mux, undoPath, h, h.queue.Undo)
}

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
	return s, err
}

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
		for _, s := range st.Roots {
			if s.Name == f.Name {
				f.Suggestions = s.Suggestions + s.Proposals
			}
		}
	}
	return list, nil
}

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
		WriteError(w, cli.Usagef("unknown folder %q", r.FormValue("folder")))
		return
	}
	s := h.Stores[i].Store
	err := s.Checkpoint() // before the first byte of the response, because no error status can be sent after that byte
	if err == nil {
		err = s.Check() // because Restore would refuse a damaged copy
	}
	if err != nil {
		WriteError(w, err)
	} else if s.Copy(w) != nil {
		panic(http.ErrAbortHandler) // so that the client detects that bytes are missing
	}
}
