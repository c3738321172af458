// Package queue is the review queue of a workspace: what is pending, decisions and their outcomes, in the
// form that commands, other processes and the review page share. It prints nothing, but it has the words for
// each suggestion.
package queue

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os/user"
	"strconv"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
)

// Queue is the review queue of a workspace.
type Queue interface {
	// List returns the pending suggestions; detailed ones have their context.
	List(ctx context.Context, detailed bool) ([]Suggestion, error)
	// Note returns the note at a path with what is pending in it.
	Note(ctx context.Context, path string) (Note, error)
	Decide(ctx context.Context, r DecideRequest) (Outcome, error)
	Undo(ctx context.Context, r UndoRequest) (Outcome, error)
	Log(ctx context.Context, limit int) ([]LogEntry, error)
	// Changed returns a number for the state of the workspace: when that is not seen, or after a while.
	Changed(ctx context.Context, seen uint64) (uint64, error)
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

// UndoRequest asks to undo a batch, the newest if it is "", or all that a session did.
type UndoRequest struct {
	Batch   string `json:"batch"`
	Session string `json:"session,omitempty"`
	By      string `json:"by"`
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

// Paths of the queue on an owner's socket. Each takes owner.SourceParam too.
const (
	suggestionsPath = "/suggestions" // query: context
	notePath        = "/note"        // query: path
	journalPath     = "/journal"     // query: limit
	changesPath     = "/changes"     // query: seen; answers after a change
	decidePath      = "/decide"      // POST a DecideRequest
	undoPath        = "/undo"        // POST an UndoRequest
)

// Handle serves q to the Remotes of other processes. A decision and an undo are carried out to the end even
// if the client goes away, because nobody has asked for half of them.
func Handle(mux *http.ServeMux, q Queue) {
	mux.HandleFunc("GET "+suggestionsPath, jsonapi.Handler(func(r *http.Request) (any, error) {
		return q.List(r.Context(), r.FormValue("context") != "")
	}))
	mux.HandleFunc("GET "+notePath, jsonapi.Handler(func(r *http.Request) (any, error) {
		return q.Note(r.Context(), r.FormValue("path"))
	}))
	mux.HandleFunc("GET "+journalPath, jsonapi.Handler(func(r *http.Request) (any, error) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil || limit < 0 {
			return nil, errors.New("limit is not a number")
		}
		return q.Log(r.Context(), limit)
	}))
	mux.HandleFunc("GET "+changesPath, jsonapi.Handler(func(r *http.Request) (any, error) {
		seen, err := strconv.ParseUint(r.FormValue("seen"), 10, 64)
		if err != nil {
			return nil, errors.New("seen is not a number")
		}
		return q.Changed(r.Context(), seen)
	}))
	mux.HandleFunc("POST "+decidePath, jsonapi.Handler(func(r *http.Request) (any, error) {
		return jsonapi.Posted(context.WithoutCancel(r.Context()), r, q.Decide)
	}))
	mux.HandleFunc("POST "+undoPath, jsonapi.Handler(func(r *http.Request) (any, error) {
		return jsonapi.Posted(context.WithoutCancel(r.Context()), r, q.Undo)
	}))
}

// Remote is the queue of a running owner.
type Remote struct{ Client *owner.Client }

func (q Remote) List(ctx context.Context, detailed bool) (list []Suggestion, err error) {
	query := url.Values{}
	if detailed {
		query.Set("context", "1")
	}
	err = q.Client.Get(ctx, suggestionsPath, query, &list)
	return list, err
}

func (q Remote) Note(ctx context.Context, path string) (n Note, err error) {
	err = q.Client.Get(ctx, notePath, url.Values{"path": {path}}, &n)
	return n, err
}

func (q Remote) Decide(ctx context.Context, r DecideRequest) (out Outcome, err error) {
	err = q.Client.Post(ctx, decidePath, r, &out)
	return out, err
}

func (q Remote) Undo(ctx context.Context, r UndoRequest) (out Outcome, err error) {
	err = q.Client.Post(ctx, undoPath, r, &out)
	return out, err
}

func (q Remote) Log(ctx context.Context, limit int) (list []LogEntry, err error) {
	err = q.Client.Get(ctx, journalPath, url.Values{"limit": {strconv.Itoa(limit)}}, &list)
	return list, err
}

func (q Remote) Changed(ctx context.Context, seen uint64) (now uint64, err error) {
	err = q.Client.Get(ctx, changesPath, url.Values{"seen": {strconv.FormatUint(seen, 10)}}, &now)
	return now, err
}
