package api

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/relayfs/relayfs/bridge/history"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

type NoteHistory struct {
	Path    model.Path      `json:"path"`
	Entries []history.Entry `json:"entries"` // newest first
}

type PastNote struct {
	Path  model.Path    `json:"path"`
	Entry history.Entry `json:"entry"` // the last change before the requested time
	Text  string        `json:"text"`
}

func (h *handler) history(ctx context.Context, path string) (NoteHistory, error) {
	p, past, err := h.openHistory(ctx, path)
	if err != nil {
		return NoteHistory{}, err
	}
	list := past.Entries()
	slices.Reverse(list)
	return NoteHistory{p, list}, nil
}

func (h *handler) show(ctx context.Context, path string, when history.Point, view diffwrap.View) (PastNote, error) {
	p, past, err := h.openHistory(ctx, path)
	if err != nil {
		return PastNote{}, err
	}
	text, e, err := past.At(when, view)
	return PastNote{p, e, text}, err
}

// openHistory opens the history of the note at a path. The note may be deleted.
func (h *handler) openHistory(ctx context.Context, path string) (model.Path, *history.History, error) {
	p, err := h.Workspace.Resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		if deleted, bad := model.CleanPath(path); bad == nil {
			p, err = deleted, nil
		}
	}
	if err != nil {
		return "", nil, err
	}
	past, err := h.Workspace.Histories.History(ctx, p)
	return p, past, err
}
