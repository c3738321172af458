package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/mcpserver"
)

func HandleGet(mux *http.ServeMux, path string, get func(*http.Request) (any, error)) {
	mux.HandleFunc("GET "+path, jsonHandler(get))
}

func HandlePost[Q, A any](mux *http.ServeMux, path string, do func(context.Context, Q) (A, error)) {
	mux.HandleFunc("POST "+path, jsonHandler(func(r *http.Request) (any, error) {
		var req Q
		body, err := readBody(r)
		if err != nil {
			return nil, err
		}
		if !utf8.Valid(body) {
			err = model.ErrInvalidUTF8 // package json would replace the invalid bytes
		}
		if err == nil {
			err = json.Unmarshal(body, &req)
		}
		if err == nil {
			strict := json.NewDecoder(bytes.NewReader(body))
			strict.DisallowUnknownFields() // "changed" with a misspelled "text" would delete the user's words
			err = strict.Decode(&req)
		}
		if err != nil {
			return nil, cli.Usagef("invalid JSON in the request: %s", strings.TrimPrefix(cli.Text(err), "json: "))
		}
		return do(r.Context(), req)
	}))
}

// readBody reads the body of a request. The limit allows the largest note with every character escaped.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mcpserver.MaxMessage))
	if errors.As(err, new(*http.MaxBytesError)) {
		err = fmt.Errorf("the request is longer than %d MiB", mcpserver.MaxMessage>>20)
	}
	if err != nil {
		err = cli.Usage(err)
	}
	return body, err
}

func jsonHandler(get func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := get(r)
		if err != nil {
			WriteError(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(v)
	}
}

// WriteError responds with an error: its text, its status, and its hint in the header Hint.
func WriteError(w http.ResponseWriter, err error) {
	if hint := Hint(err); hint != "" {
		w.Header().Set("Hint", strings.ReplaceAll(hint, "\n", " "))
	}
	http.Error(w, cli.Text(err), statusOf(err))
}

func statusOf(err error) int {
	var refused *owner.RefusedError
	var ended *owner.EndedError
	var stopped *owner.StoppedError
	var usage *cli.UsageError
	var conflict reviewqueue.Conflict
	switch {
	case errors.As(err, &refused):
		return refused.Status
	case errors.As(err, &conflict), errors.Is(err, model.ErrConflict):
		return http.StatusConflict
	case errors.Is(err, fs.ErrNotExist):
		return http.StatusNotFound
	case errors.Is(err, bridge.ErrNothingToUndo):
		return http.StatusGone
	case errors.As(err, &usage):
		return http.StatusBadRequest
	case errors.Is(err, model.ErrBadName), errors.Is(err, model.ErrNameTooLong), errors.Is(err, model.ErrIsDir), errors.Is(err, model.ErrNotNote),
		errors.Is(err, model.ErrRefused):
		return http.StatusUnprocessableEntity
	case errors.As(err, &ended), errors.As(err, &stopped):
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}
