// Package past is the histories of notes as commands have them: of a workspace of this process, or of that
// of a running owner through its socket. It has the words for the times that people write, and for entries.
package past

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"slices"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/jsonapi"
)

// Paths on an owner's socket. Each takes owner.SourceParam too.
const (
	historyPath = "/history" // query: path
	textPath    = "/past"    // query: path, when (history.When as JSON)
)

// Listing is the history of a note.
type Listing struct {
	Path    model.Path      `json:"path"`
	Entries []history.Entry `json:"entries"` // newest first
}

// Shown is a note as it was.
type Shown struct {
	Path  model.Path    `json:"path"`
	Entry history.Entry `json:"entry"` // the last one before
	Text  string        `json:"text"`
}

// Reader reads histories.
type Reader interface {
	// History returns what is known of the note at a path.
	History(ctx context.Context, path string) (Listing, error)
	// Show returns the raw text of the note at a path as it was.
	Show(ctx context.Context, path string, when history.When) (Shown, error)
}

// Local reads the histories of a workspace in this process.
type Local struct{ Workspace *bridge.Workspace }

func (r Local) History(ctx context.Context, path string) (Listing, error) {
	p, h, err := r.open(ctx, path)
	if err != nil {
		return Listing{}, err
	}
	list := h.Entries()
	slices.Reverse(list)
	return Listing{p, list}, nil
}

func (r Local) Show(ctx context.Context, path string, when history.When) (Shown, error) {
	p, h, err := r.open(ctx, path)
	if err != nil {
		return Shown{}, err
	}
	text, e, err := h.At(when)
	return Shown{p, e, text}, err
}

// open opens the history of the note at a path, or of the one that was there and is gone.
func (r Local) open(ctx context.Context, path string) (model.Path, *history.History, error) {
	p, err := r.Workspace.Resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		if gone, bad := model.CleanPath(path); bad == nil {
			p, err = gone, nil
		}
	}
	if err != nil {
		return "", nil, err
	}
	h, err := r.Workspace.Archive.History(ctx, p)
	return p, h, err
}

// Remote reads the histories of a running owner's workspace.
type Remote struct{ Client *owner.Client }

func (r Remote) History(ctx context.Context, path string) (Listing, error) {
	return jsonapi.Get[Listing](ctx, r.Client, historyPath, url.Values{"path": {path}})
}

func (r Remote) Show(ctx context.Context, path string, when history.When) (Shown, error) {
	text, err := json.Marshal(when)
	if err != nil {
		return Shown{}, err
	}
	return jsonapi.Get[Shown](ctx, r.Client, textPath, url.Values{"path": {path}, "when": {string(text)}})
}

// Handle serves r to the Remotes of other processes.
func Handle(mux *http.ServeMux, r Reader) {
	jsonapi.HandleGet(mux, historyPath, func(req *http.Request) (any, error) { return r.History(req.Context(), req.FormValue("path")) })
	jsonapi.HandleGet(mux, textPath, func(req *http.Request) (any, error) {
		var when history.When
		if err := json.Unmarshal([]byte(req.FormValue("when")), &when); err != nil {
			return nil, err
		}
		return r.Show(req.Context(), req.FormValue("path"), when)
	})
}
