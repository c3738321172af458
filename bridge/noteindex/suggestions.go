package noteindex

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/attribution"
	"github.com/relayfs/relayfs/bridge/model"
)

// SuggestionIndex is what a follower keeps current for Suggestions: the notes
// that have any.
type SuggestionIndex struct {
	of func(context.Context, model.Path, *model.Version) ([]model.Suggestion, error)

	mu    sync.Mutex // protects the following
	notes map[model.Path][]model.Suggestion
}

// NewSuggestionIndex is an empty index; of lists the suggestions of a note.
func NewSuggestionIndex(of func(context.Context, model.Path, *model.Version) ([]model.Suggestion, error)) *SuggestionIndex {
	return &SuggestionIndex{of: of, notes: make(map[model.Path][]model.Suggestion)}
}

func (x *SuggestionIndex) add(model.Path) {}

func (x *SuggestionIndex) set(ctx context.Context, p model.Path, v *model.Version) error {
	list, err := x.of(ctx, p, v)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(list) == 0 {
		delete(x.notes, p)
	} else {
		x.notes[p] = list
	}
	return nil
}

func (x *SuggestionIndex) remove(p model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.notes, func(q model.Path, _ []model.Suggestion) bool { return p.Contains(q) })
}

func (x *SuggestionIndex) rename(oldPath, newPath model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	moved := make(map[model.Path][]model.Suggestion)
	for q, list := range x.notes {
		if !oldPath.Contains(q) {
			continue
		}
		to := newPath + q[len(oldPath):]
		moved[to] = attribution.Renamed(list, to)
		delete(x.notes, q)
	}
	maps.Copy(x.notes, moved)
}

func (x *SuggestionIndex) Below(under model.Path) []model.Suggestion {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []model.Suggestion
	for _, p := range slices.Sorted(maps.Keys(x.notes)) {
		if under.Contains(p) {
			all = append(all, x.notes[p]...)
		}
	}
	return all
}
