// Package jsonapi answers HTTP requests in JSON, and errors with a status for their kind. It knows no
// path and no transport.
package jsonapi

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// Conflict is the error of a request that does not fit the present state.
type Conflict string

func (c Conflict) Error() string { return string(c) }

// Handler returns a handler that answers with what get returns.
func Handler(get func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := get(r)
		if err != nil {
			http.Error(w, err.Error(), statusOf(err))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
}

// Posted decodes the JSON body of a request and calls do with it.
func Posted[Q, A any](ctx context.Context, r *http.Request, do func(context.Context, Q) (A, error)) (any, error) {
	var req Q
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		return nil, err
	}
	return do(ctx, req)
}

// statusOf returns the HTTP status of an error, by which a page distinguishes errors.
func statusOf(err error) int {
	var refused *owner.RefusedError
	var gone *owner.GoneError
	var stopped *owner.StoppedError
	var usage *clierr.UsageError
	var conflict Conflict
	switch {
	case errors.As(err, &refused):
		return refused.Status
	case errors.As(err, &conflict):
		return http.StatusConflict
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, bridge.ErrNothingToUndo):
		return http.StatusGone
	case errors.As(err, &usage):
		return http.StatusBadRequest
	case errors.As(err, &gone), errors.As(err, &stopped):
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}
