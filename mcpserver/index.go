package mcpserver

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver/internal/trigram"
)

// index is what a search knows of the notes before it opens them: their paths,
// and the signatures of those that were searched before. It follows the events of
// the workspace; text is never kept.
type index struct {
	ws *bridge.Workspace

	follow sync.Once
	cancel func()

	makers sync.Pool // of *trigram.Maker

	mu    sync.Mutex // protects the following
	notes map[bridge.Path]*indexed
	list  []*indexed // sorted as Walk sorts; nil after notes came or went
}

// indexed is one note. Its signature is that of the note's text since the last
// event, or one without bits, and then of no text at all.
type indexed struct {
	path bridge.Path
	sig  atomic.Pointer[trigram.Signature]
}

func newIndex(ws *bridge.Workspace) *index {
	return &index{ws: ws, notes: make(map[bridge.Path]*indexed), makers: sync.Pool{New: func() any { return new(trigram.Maker) }}}
}

// start begins to follow the workspace.
func (x *index) start() {
	x.follow.Do(func() { x.cancel = x.ws.Subscribe(x.event) })
}

// close stops following it.
func (x *index) close() {
	x.follow.Do(func() { x.cancel = func() {} })
	x.cancel()
}

// event forgets what is no longer true.
func (x *index) event(ev bridge.Event) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.notes[ev.Path]; n != nil {
		n.sig.Store(new(trigram.Signature))
	}
	switch ev.Kind {
	case bridge.EventChanged:
		return
	case bridge.EventRenamed:
		x.drop(ev.OldPath)
		x.drop(ev.Path)
	case bridge.EventRemoved:
		x.drop(ev.Path)
	}
	x.list = nil
}

// drop forgets the notes at and below p. mu is held.
func (x *index) drop(p bridge.Path) {
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

// below lists the notes at and below under, sorted by path.
func (x *index) below(ctx context.Context, under bridge.Path) ([]*indexed, error) {
	x.start()
	all, err := x.all(ctx)
	if err != nil || under == "" {
		return all, err
	}
	var list []*indexed
	for _, n := range all {
		if under.Contains(n.path) {
			list = append(list, n)
		}
	}
	return list, nil
}

func (x *index) all(ctx context.Context) ([]*indexed, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.list != nil {
		return x.list, nil
	}
	list := make([]*indexed, 0, len(x.notes))
	err := x.ws.Walk(ctx, "", func(e bridge.DirEntry, p bridge.Path) error {
		if e.Kind != bridge.KindNote {
			return nil
		}
		n := x.notes[p]
		if n == nil {
			n = &indexed{path: p}
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
func (n *indexed) rulesOut(q trigram.Query) bool {
	sig := n.sig.Load()
	return sig.Known() && !q.MayMatch(sig)
}

// learn makes the signature of text, if n has none since before: the one that n
// had before text was read. A change since then leaves n without.
func (x *index) learn(n *indexed, before *trigram.Signature, text string) {
	if before.Known() {
		return
	}
	m := x.makers.Get().(*trigram.Maker)
	defer x.makers.Put(m)
	n.sig.CompareAndSwap(before, m.Make(text))
}
