package index

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
)

type MarkedNote struct {
	Suggestions []model.Suggestion
	Threads     []model.Thread
}

type SuggestionIndex struct {
	of func(context.Context, model.Path, *model.Version) (MarkedNote, error)

	mu    sync.Mutex // guards the fields below
	notes map[model.Path]MarkedNote
}

// NewSuggestionIndex returns an empty index. of lists the suggestions and threads of a note.
func NewSuggestionIndex(of func(context.Context, model.Path, *model.Version) (MarkedNote, error)) *SuggestionIndex {
	return &SuggestionIndex{of: of, notes: make(map[model.Path]MarkedNote)}
}

func (x *SuggestionIndex) add(model.Path) {}

func (x *SuggestionIndex) set(ctx context.Context, p model.Path, v *model.Version) error {
	marked, err := x.of(ctx, p, v)
	if err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(marked.Suggestions)+len(marked.Threads) == 0 {
		delete(x.notes, p)
	} else {
		x.notes[p] = marked
	}
	return nil
}

func (x *SuggestionIndex) remove(p model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.DeleteFunc(x.notes, func(q model.Path, _ MarkedNote) bool { return p.Contains(q) })
}

func (x *SuggestionIndex) rename(oldPath, newPath model.Path) {
	x.mu.Lock()
	defer x.mu.Unlock()
	moved := make(map[model.Path]MarkedNote)
	for q, marked := range x.notes {
		if !oldPath.Contains(q) {
			continue
		}
		to := newPath + q[len(oldPath):]
		moved[to] = MarkedNote{note.Renamed(marked.Suggestions, to), note.RenamedThreads(marked.Threads, to)}
		delete(x.notes, q)
	}
	maps.Copy(x.notes, moved)
}

func (x *SuggestionIndex) Below(under model.Path) (all MarkedNote) {
	x.mu.Lock()
	defer x.mu.Unlock()
	var paths []model.Path
	if _, note := x.notes[under]; note { // a list queries one note after another
		paths = append(paths, under)
	} else {
		for p := range x.notes {
			if under.Contains(p) {
				paths = append(paths, p)
			}
		}
		slices.Sort(paths)
	}
	for _, p := range paths {
		all.Suggestions = append(all.Suggestions, x.notes[p].Suggestions...)
		all.Threads = append(all.Threads, x.notes[p].Threads...)
	}
	return all
}
