// Package jsonapi asks owners in JSON and answers requests so, and errors with a status for their kind. It
// knows no path.
package jsonapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// Conflict is the error of a request that does not fit the present state.
type Conflict string

func (c Conflict) Error() string { return string(c) }

// Get asks an owner.
func Get[A any](ctx context.Context, c *owner.Client, path string, query url.Values) (answer A, err error) {
	err = c.Get(ctx, path, query, &answer)
	return answer, err
}

// Post sends an owner a request.
func Post[A any](ctx context.Context, c *owner.Client, path string, request any) (answer A, err error) {
	err = c.Post(ctx, path, request, &answer)
	return answer, err
}

// Mux takes routes, each "METHOD /path".
type Mux interface {
	HandleFunc(route string, answer func(http.ResponseWriter, *http.Request))
}

// HandleGet answers with what get returns.
func HandleGet(mux Mux, path string, get func(*http.Request) (any, error)) {
	mux.HandleFunc("GET "+path, handler(get))
}

// HandlePost answers with what do makes of the JSON that is posted.
func HandlePost[Q, A any](mux Mux, path string, do func(context.Context, Q) (A, error)) {
	mux.HandleFunc("POST "+path, handler(func(r *http.Request) (any, error) {
		var req Q
		if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
			if errors.Is(err, io.EOF) { // of an empty body
				err = io.ErrUnexpectedEOF
			}
			return nil, clierr.Usagef("the request is not the JSON that is expected: %s", clierr.Text(err))
		}
		return do(r.Context(), req)
	}))
}

func handler(get func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := get(r)
		if err != nil {
			Refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
}

// Refuse answers with an error, in words.
func Refuse(w http.ResponseWriter, err error) { http.Error(w, clierr.Text(err), statusOf(err)) }

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
	case errors.As(err, &conflict), errors.Is(err, model.ErrConflict):
		return http.StatusConflict
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, bridge.ErrNothingToUndo):
		return http.StatusGone
	case errors.As(err, &usage), errors.Is(err, model.ErrBadName), errors.Is(err, model.ErrNameTooLong), errors.Is(err, model.ErrIsDir), errors.Is(err, model.ErrNotNote):
		return http.StatusBadRequest
	case errors.Is(err, model.ErrRefused):
		return http.StatusUnprocessableEntity
	case errors.As(err, &gone), errors.As(err, &stopped):
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}
