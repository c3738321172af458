package search

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// Index is what a search knows of the notes before it opens them: their paths,
// and the signatures of those that were searched before. It follows the events of
// the workspace; text is never kept.
type Index struct {
	ws *bridge.Workspace

	follow sync.Once
	cancel func()

	makers sync.Pool // of *trigram.Maker

	mu    sync.Mutex // protects the following
	notes map[model.Path]*Note
	list  []*Note // sorted as Walk sorts; nil after notes came or went
}

// Note is one note. Its signature is that of the note's text since the last
// event, or one without bits, and then of no text at all.
type Note struct {
	Path model.Path
	sig  atomic.Pointer[trigram.Signature]
}

// NewIndex makes an index that knows nothing yet.
func NewIndex(ws *bridge.Workspace) *Index {
	return &Index{ws: ws, notes: make(map[model.Path]*Note), makers: sync.Pool{New: func() any { return new(trigram.Maker) }}}
}

// start begins to follow the workspace.
func (x *Index) start() {
	x.follow.Do(func() { x.cancel = x.ws.Subscribe(x.event) })
}

// Close stops following it.
func (x *Index) Close() {
	x.follow.Do(func() { x.cancel = func() {} })
	x.cancel()
}

// event forgets what is no longer true.
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
		x.drop(ev.OldPath)
		x.drop(ev.Path)
	case model.EventRemoved:
		x.drop(ev.Path)
	}
	x.list = nil
}

// drop forgets the notes at and below p. mu is held.
func (x *Index) drop(p model.Path) {
	if _, ok := x.notes[p]; ok {
		delete(x.notes, p)
		return
	}
	for q := range x.notes {
		if p.Contains(q) {
			delete(x.notes, q)
		}
	}
}

// Below lists the notes at and below under, sorted by path.
func (x *Index) Below(ctx context.Context, under model.Path) ([]*Note, error) {
	x.start()
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

// rulesOut says that the note cannot match the query's pattern. It is false where
// nothing is known.
func (n *Note) rulesOut(q trigram.Query) bool {
	sig := n.sig.Load()
	return sig.Known() && !q.MayMatch(sig)
}

// learn makes the signature of text, if n has none since before: the one that n
// had before text was read. A change since then leaves n without.
func (x *Index) learn(n *Note, before *trigram.Signature, text string) {
	if before.Known() {
		return
	}
	m := x.makers.Get().(*trigram.Maker)
	defer x.makers.Put(m)
	n.sig.CompareAndSwap(before, m.Make(text))
}
