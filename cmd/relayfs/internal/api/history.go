package api

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
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

// history returns what is known of the note at a path.
func (h *handler) history(ctx context.Context, path string) (Listing, error) {
	p, past, err := h.openHistory(ctx, path)
	if err != nil {
		return Listing{}, err
	}
	list := past.Entries()
	slices.Reverse(list)
	return Listing{p, list}, nil
}

// show returns the raw text of the note at a path as it was.
func (h *handler) show(ctx context.Context, path string, when history.When) (Shown, error) {
	p, past, err := h.openHistory(ctx, path)
	if err != nil {
		return Shown{}, err
	}
	text, e, err := past.At(when)
	return Shown{p, e, text}, err
}

// open opens the history of the note at a path, or of the one that was there and is gone.
func (h *handler) openHistory(ctx context.Context, path string) (model.Path, *history.History, error) {
	p, err := h.Workspace.Resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		if gone, bad := model.CleanPath(path); bad == nil {
			p, err = gone, nil
		}
	}
	if err != nil {
		return "", nil, err
	}
	past, err := h.Workspace.Histories.History(ctx, p)
	return p, past, err
}
