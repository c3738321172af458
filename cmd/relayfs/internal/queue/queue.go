// Package queue is the review queue of a workspace: what is pending, decisions and their outcomes, in the
// form that commands, other processes and the review page share. It prints nothing, but it has the words for
// each suggestion.
package queue

import (
	"context"
	"net/http"
	"net/url"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
)

// Queue is the review queue of a workspace.
type Queue interface {
	// List returns the pending suggestions; detailed ones have their context.
	List(ctx context.Context, detailed bool) ([]Suggestion, error)
	// Threads returns the threads of comments in all notes.
	Threads(ctx context.Context) ([]Thread, error)
	// Note returns the note at a path with what is pending in it.
	Note(ctx context.Context, path string) (Note, error)
	Comment(ctx context.Context, r CommentRequest) (Outcome, error)
	Resolve(ctx context.Context, r ResolveRequest) (Outcome, error)
	Decide(ctx context.Context, r DecideRequest) (Outcome, error)
	Undo(ctx context.Context, r UndoRequest) (Outcome, error)
	Log(ctx context.Context, limit int) ([]LogEntry, error)
	// Pending returns what waits at or below the paths, and all proposals, without texts.
	Pending(ctx context.Context, paths []string) (Pending, error)
	// Follow tells where something has changed since the state that was seen, at once, and then what changes, until ctx
	// ends or tell returns an error. A change without paths is a sign of life. A client that has seen nothing says 0.
	Follow(ctx context.Context, seen uint64, tell func(Change) error) error
}

// Change says where something has changed between two states of a workspace.
type Change struct {
	Now   uint64   `json:"now"`   // the state that is seen with it
	Paths []string `json:"paths"` // notes or folders; "" is everywhere
}

// Pending is the JSON of what waits for a person at or below some paths, for a list: suggestions in notes have no texts
// and lines, which Note has. Proposals are all of them, wherever they are.
type Pending struct {
	Suggestions []Suggestion `json:"suggestions"`
	Commented   []string     `json:"commented"` // notes with comments
}

// DecideRequest asks for a decision. With model.Changed, Text replaces the proposal of the one suggestion.
type DecideRequest struct {
	IDs     []string      `json:"ids"`
	Verdict model.Verdict `json:"verdict"`
	Text    string        `json:"text,omitempty"`
	By      string        `json:"by"`
	Reason  string        `json:"reason,omitempty"`
	Force   bool          `json:"force,omitempty"` // accept stale proposals, too
	// Shown has the revision of each suggestion as it was shown. If one has changed, none is decided.
	Shown map[string]string `json:"shown,omitempty"`
}

// UndoRequest asks to undo a batch, the newest if it is "", or all that a session did. With IDs it is the newest
// decision on each of these suggestions, or the one of the batch.
type UndoRequest struct {
	Batch   string   `json:"batch"`
	IDs     []string `json:"ids,omitempty"` // or beginnings of ids
	Session string   `json:"session,omitempty"`
	By      string   `json:"by"`
}

// ManyAtOnce is how many suggestions are decided at once without asking.
const ManyAtOnce = 10

// MaxReason bounds a reason in bytes, because every note's entry in the journal has it.
const MaxReason = 1000

// TidyReason returns a reason that was typed or pasted, on one line.
func TidyReason(reason string) string { return strings.Join(strings.Fields(reason), " ") }

// Imperative returns the first word of a question about a verdict.
func Imperative(v model.Verdict) string {
	verb := strings.TrimSuffix(string(v), "ed")
	return strings.ToUpper(verb[:1]) + verb[1:]
}

// Reviewer returns the name of the person who decides: the user's, whatever name agents have.
func Reviewer() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return ""
}

// Paths of the queue on an owner's socket. Each takes owner.SourceParam too. docs/review-api.md describes them.
const (
	suggestionsPath = "/suggestions" // query: context, path, author, session, kind
	threadsPath     = "/threads"     // query: path
	pendingPath     = "/pending"     // query: path, once for each
	notePath        = "/note"        // query: path
	journalPath     = "/journal"     // query: limit
	eventsPath      = "/events"      // a stream, see serveEvents
	commentPath     = "/comment"     // POST a CommentRequest
	resolvePath     = "/resolve"     // POST a ResolveRequest
	decidePath      = "/decide"      // POST a DecideRequest
	undoPath        = "/undo"        // POST an UndoRequest
)

// Handle serves q to the Remotes of other processes. What changes something is carried out to the end even if the
// client goes away, because nobody has asked for half of it.
func Handle(mux jsonapi.Mux, q Queue) {
	jsonapi.HandleGet(mux, suggestionsPath, func(r *http.Request) (any, error) {
		sel, err := selected(r)
		if err != nil {
			return nil, err
		}
		list, err := q.List(r.Context(), r.FormValue("context") != "")
		if err != nil || sel.Empty() {
			return list, err
		}
		return sel.Choose(list, nil)
	})
	jsonapi.HandleGet(mux, threadsPath, func(r *http.Request) (any, error) {
		sel, err := selected(r)
		if err != nil {
			return nil, err
		}
		list, err := q.Threads(r.Context())
		return slices.DeleteFunc(list, func(t Thread) bool { return !sel.Matches(&Suggestion{Path: t.Path}) }), err
	})
	jsonapi.HandleGet(mux, pendingPath, func(r *http.Request) (any, error) { return q.Pending(r.Context(), r.URL.Query()["path"]) })
	jsonapi.HandleGet(mux, notePath, func(r *http.Request) (any, error) { return q.Note(r.Context(), r.FormValue("path")) })
	jsonapi.HandleGet(mux, journalPath, func(r *http.Request) (any, error) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil || limit < 0 {
			return nil, clierr.Usagef("limit is not a number")
		}
		return q.Log(r.Context(), limit)
	})
	mux.HandleFunc("GET "+eventsPath, serveEvents(q))
	post(mux, commentPath, q.Comment)
	post(mux, resolvePath, q.Resolve)
	post(mux, decidePath, q.Decide)
	post(mux, undoPath, q.Undo)
}

// selected are the conditions of a query. Their names are those of the flags.
func selected(r *http.Request) (s Selector, err error) {
	s = Selector{Glob: r.FormValue("path"), Author: r.FormValue("author"), Session: r.FormValue("session"), Kind: r.FormValue("kind")}
	if err := s.Check(nil); err != nil {
		return s, clierr.Usagef("%s", strings.TrimPrefix(err.Error(), "--"))
	}
	return s, nil
}

func post[Q any](mux jsonapi.Mux, path string, do func(context.Context, Q) (Outcome, error)) {
	jsonapi.HandlePost(mux, path, func(ctx context.Context, r Q) (Outcome, error) { return do(context.WithoutCancel(ctx), r) })
}

// Remote is the queue of a running owner.
type Remote struct{ Client *owner.Client }

func (q Remote) List(ctx context.Context, detailed bool) ([]Suggestion, error) {
	query := url.Values{}
	if detailed {
		query.Set("context", "1")
	}
	return jsonapi.Get[[]Suggestion](ctx, q.Client, suggestionsPath, query)
}

func (q Remote) Pending(ctx context.Context, paths []string) (Pending, error) {
	return jsonapi.Get[Pending](ctx, q.Client, pendingPath, url.Values{"path": paths})
}

func (q Remote) Note(ctx context.Context, path string) (Note, error) {
	return jsonapi.Get[Note](ctx, q.Client, notePath, url.Values{"path": {path}})
}

func (q Remote) Threads(ctx context.Context) ([]Thread, error) {
	return jsonapi.Get[[]Thread](ctx, q.Client, threadsPath, nil)
}

func (q Remote) Comment(ctx context.Context, r CommentRequest) (Outcome, error) {
	return jsonapi.Post[Outcome](ctx, q.Client, commentPath, r)
}

func (q Remote) Resolve(ctx context.Context, r ResolveRequest) (Outcome, error) {
	return jsonapi.Post[Outcome](ctx, q.Client, resolvePath, r)
}

func (q Remote) Decide(ctx context.Context, r DecideRequest) (Outcome, error) {
	return jsonapi.Post[Outcome](ctx, q.Client, decidePath, r)
}

func (q Remote) Undo(ctx context.Context, r UndoRequest) (Outcome, error) {
	return jsonapi.Post[Outcome](ctx, q.Client, undoPath, r)
}

func (q Remote) Log(ctx context.Context, limit int) ([]LogEntry, error) {
	return jsonapi.Get[[]LogEntry](ctx, q.Client, journalPath, url.Values{"limit": {strconv.Itoa(limit)}})
}
