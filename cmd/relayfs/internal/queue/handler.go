package queue

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
)

// Paths of the queue on an owner's socket. Each takes owner.SourceParam too.
const (
	suggestionsPath = "/suggestions" // query: context
	journalPath     = "/journal"     // query: limit
	changesPath     = "/changes"     // query: seen; answers when there are any
	decidePath      = "/decide"      // POST a DecideRequest
	undoPath        = "/undo"        // POST an UndoRequest
)

// Handle lets other processes work on the review queue; Remote is the
// other end.
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
	mux.HandleFunc("POST "+decidePath, jsonapi.Handler(func(r *http.Request) (any, error) { return posted(r, q.Decide) }))
	mux.HandleFunc("POST "+undoPath, jsonapi.Handler(func(r *http.Request) (any, error) { return posted(r, q.Undo) }))
}

// posted decodes a request's body and carries it out, to its end even when the
// client goes away: half of the notes decided is what nobody asked for.
func posted[T any](r *http.Request, do func(context.Context, T) (Outcome, error)) (any, error) {
	var req T
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, err
	}
	return do(context.WithoutCancel(r.Context()), req)
}
