// Package jsonapi answers HTTP requests in JSON, and an error with the status that tells
// its kind. It knows no path and no transport.
package jsonapi

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// Conflict is the error of a request that does not fit what is there by now.
type Conflict string

func (c Conflict) Error() string { return string(c) }

// Handler makes a handler of what returns a result.
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

// statusOf is the HTTP status of a request that failed: what a page has to tell
// apart.
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
	case errors.Is(err, bridge.ErrNothingToUndo):
		return http.StatusGone
	case errors.As(err, &usage):
		return http.StatusBadRequest
	case errors.As(err, &gone), errors.As(err, &stopped):
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}
