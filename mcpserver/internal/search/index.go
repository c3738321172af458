// Package search finds lines in the notes of a workspace. Its Index holds the paths of the notes,
// and signatures that rule out notes which cannot match. It knows no tool. The lock of an Index
// protects the list of notes.
package search

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// Index holds what a search uses before it opens a note: its path, and its signature if it was
// searched before. It follows the events of the workspace and never keeps text.
type Index struct {
	ws *bridge.Workspace

	follow sync.Once
	cancel func()

	makers sync.Pool // of *trigram.Maker

	mu    sync.Mutex // protects the following
	notes map[model.Path]*Note
	list  []*Note // sorted as Walk sorts; nil after notes came or went
}

// Note is one note. Its signature is nil, or of the text since the last event, or empty after an
// event.
type Note struct {
	Path model.Path
	sig  atomic.Pointer[trigram.Signature]
}

// NewIndex returns an empty Index of ws.
func NewIndex(ws *bridge.Workspace) *Index {
	return &Index{ws: ws, notes: make(map[model.Path]*Note), makers: sync.Pool{New: func() any { return new(trigram.Maker) }}}
}

// Close stops following the workspace.
func (x *Index) Close() {
	x.follow.Do(func() { x.cancel = func() {} })
	x.cancel()
}

func (x *Index) event(ev model.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.notes[ev.Path]; n != nil {
		n.sig.Store(new(trigram.Signature))
	}
	switch ev.Kind {
	case model.EventChanged:
		return
	case model.EventRenamed:
		drop(x.notes, ev.OldPath)
		drop(x.notes, ev.Path)
	case model.EventRemoved:
		drop(x.notes, ev.Path)
	}
	x.list = nil
}

// drop forgets the notes at and below p.
func drop(notes map[model.Path]*Note, p model.Path) {
	if _, ok := notes[p]; ok {
		delete(notes, p)
		return
	}
	maps.DeleteFunc(notes, func(q model.Path, _ *Note) bool { return p.Contains(q) })
}

// Below returns the notes at and below under, sorted by path.
func (x *Index) Below(ctx context.Context, under model.Path) ([]*Note, error) {
	x.follow.Do(func() { x.cancel = x.ws.Subscribe(x.event) })
	all, err := x.all(ctx)
	if err != nil || under == "" {
		return all, err
	}
	var list []*Note
	for _, n := range all {
		if under.Contains(n.Path) {
			list = append(list, n)
		}
	}
	return list, nil
}

func (x *Index) all(ctx context.Context) ([]*Note, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.list != nil {
		return x.list, nil
	}
	list := make([]*Note, 0, len(x.notes))
	err := x.ws.Walk(ctx, "", func(e bridge.DirEntry, p model.Path) error {
		if e.Kind != model.KindNote {
			return nil
		}
		n := x.notes[p]
		if n == nil {
			n = &Note{Path: p}
			x.notes[p] = n
		}
		list = append(list, n)
		return nil
	})
	if err == nil {
		x.list = list
	}
	return list, err
}

// rulesOut reports whether the note cannot match the query's pattern, as far as is known.
func (n *Note) rulesOut(q trigram.Query) bool {
	sig := n.sig.Load()
	return sig.Known() && !q.MayMatch(sig)
}

// learn computes the signature of text if before, the one that n had before text was read, is
// empty. If n has changed since then, its signature stays empty.
func (x *Index) learn(n *Note, before *trigram.Signature, text string) {
	if before.Known() {
		return
	}
	m := x.makers.Get().(*trigram.Maker)
	defer x.makers.Put(m)
	n.sig.CompareAndSwap(before, m.Make(text))
}
