package host

import (
	"context"
	"sync"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/wake"
)

// Event is a change of a document.
type Event struct {
	Document string
	Channel  string // the folder document that lists it
	User     string // whose change it is, "" if nobody's
	Update   []byte // nil if the document is not open here
}

// Subscribe calls fn with each change of the folder document channel and of the documents
// that it lists, until cancel is called. fn must return at once.
func (h *Host) Subscribe(channel string, fn func(Event)) (cancel func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[&fn] = channel
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, &fn)
	}
}

func (h *Host) publish(ev Event) {
	h.mu.Lock()
	var fns []func(Event)
	for fn, channel := range h.subs {
		if channel == ev.Channel {
			fns = append(fns, *fn)
		}
	}
	h.mu.Unlock()
	for _, fn := range fns {
		fn(ev)
	}
}

// follow publishes the document's updates while it is open.
func (d *Document) follow() {
	cancel := d.Doc().OnUpdate(func(update []byte, origin any) {
		o, _ := origin.(Origin)
		ev := Event{Document: d.id, Channel: d.Channel(), User: o.User, Update: update}
		if ev.Channel != "" {
			d.h.publish(ev)
		}
	})
	d.unfollow = func() {
		cancel()
		close(d.closed)
	}
}

// Run updates the folder documents until ctx ends.
func (h *Host) Run(ctx context.Context) error {
	defer h.ws.Subscribe(func(ev model.Event) {
		if ev.Kind == model.EventChanged && ev.Path.IsNote() {
			h.notice(false, ev.Path)
		} else {
			h.notice(true, "")
		}
	})()
	h.notice(true, "") // changes since New
	unhashed := wake.New()
	var hashing sync.WaitGroup
	hashing.Go(func() { h.hashFiles(ctx, unhashed) })
	defer hashing.Wait()
	for range h.wake.Until(ctx) {
		h.mu.Lock()
		names, changed := h.names, h.changed
		h.names, h.changed = false, make(map[model.Path]bool)
		h.mu.Unlock()
		if names {
			h.followAll()
			unhashed.Set()
		}
		for p := range changed {
			h.tell(p)
		}
	}
	return nil
}

// notice makes Run handle a change of names, or that of a note unless it is "".
func (h *Host) notice(names bool, changed model.Path) {
	h.mu.Lock()
	h.names = h.names || names
	if changed != "" {
		h.changed[changed] = true
	}
	h.mu.Unlock()
	h.wake.Set()
}

func (h *Host) followAll() {
	for _, f := range h.folders {
		err := f.locked(f.follow)
		if err != nil {
			h.log.Warn("folder document is not up to date", model.LogFolder, f.name, model.LogErr, err)
		}
	}
}

// tell publishes the change of a note, unless it is open here.
func (h *Host) tell(p model.Path) {
	name, rel := p.Split()
	for _, f := range h.folders {
		id, ok := f.index.Load().ids[rel]
		if f.name != name || !ok {
			continue
		}
		h.mu.Lock()
		open := h.docs[id] != nil
		h.mu.Unlock()
		if !open {
			h.publish(Event{Document: id, Channel: f.id})
		}
	}
}
