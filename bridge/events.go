package bridge

import (
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
)

// broadcaster calls every subscriber with every event.
type broadcaster struct {
	mu   sync.Mutex // protects the following
	subs map[int]func(model.Event)
	next int
}

// Subscribe calls fn after each change until cancel is called. fn runs on the
// goroutine that made the change, holding no lock of the workspace; it must
// return at once (put the event in a queue) and must not write to the workspace.
func (w *Workspace) Subscribe(fn func(model.Event)) (cancel func()) {
	return w.events.subscribe(func(ev model.Event) {
		if w.reaches(ev.Path) {
			fn(ev)
		}
	})
}

func (b *broadcaster) subscribe(fn func(model.Event)) (cancel func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = make(map[int]func(model.Event))
	}
	id := b.next
	b.next++
	b.subs[id] = fn
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subs, id)
	}
}

func (b *broadcaster) publish(ev model.Event) {
	b.mu.Lock()
	subs := make([]func(model.Event), 0, len(b.subs))
	for _, fn := range b.subs {
		subs = append(subs, fn)
	}
	b.mu.Unlock()
	for _, fn := range subs {
		fn(ev)
	}
}
