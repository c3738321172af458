package bridge

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// suggestionIndex is what a follower keeps current for Suggestions: the notes
// that have any.
type suggestionIndex struct {
	of func(context.Context, Path, *Version) ([]Suggestion, error)

	mu    sync.Mutex // protects the following
	notes map[Path][]Suggestion
}

// newSuggestionIndex is an empty index; of lists the suggestions of a note.
func newSuggestionIndex(of func(context.Context, Path, *Version) ([]Suggestion, error)) *suggestionIndex {
	return &suggestionIndex{of: of, notes: make(map[Path][]Suggestion)}
}

func (x *suggestionIndex) add(Path) {}

func (x *suggestionIndex) set(ctx context.Context, p Path, v *Version) error {
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

func (x *suggestionIndex) remove(p Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for q := range x.notes {
		if p.Contains(q) {
			delete(x.notes, q)
		}
	}
}

func (x *suggestionIndex) rename(oldPath, newPath Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	moved := make(map[Path][]Suggestion)
	for q, list := range x.notes {
		if !oldPath.Contains(q) {
			continue
		}
		to := newPath + q[len(oldPath):]
		moved[to] = renamed(list, to)
		delete(x.notes, q)
	}
	maps.Copy(x.notes, moved)
}

func (x *suggestionIndex) below(under Path) []Suggestion {
	x.mu.Lock()
	defer x.mu.Unlock()
	var all []Suggestion
	for _, p := range slices.Sorted(maps.Keys(x.notes)) {
		if under.Contains(p) {
			all = append(all, x.notes[p]...)
		}
	}
	return all
}
