package queue

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
)

// Paths of the queue on an owner's socket. Each takes owner.SourceParam too.
const (
	suggestionsPath = "/suggestions" // query: context
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
