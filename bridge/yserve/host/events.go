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

type subscription struct {
	channel string
	fn      func(Event)
}

// Subscribe calls fn with each change of the folder document channel and of the documents
// that it lists, until cancel is called. fn must return at once.
func (h *Host) Subscribe(channel string, fn func(Event)) (cancel func()) {
	s := &subscription{channel, fn}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs[s] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, s)
	}
}

func (h *Host) publish(ev Event) {
	h.mu.Lock()
	var fns []func(Event)
	for s := range h.subs {
		if s.channel == ev.Channel {
			fns = append(fns, s.fn)
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

// pending is the workspace's reports that Run has not handled yet.
type pending struct {
	wake wake.Signal

	mu      sync.Mutex // protects the following
	changed map[model.Path]bool
	names   bool
}

// Run updates the folder documents until ctx ends.
func (h *Host) Run(ctx context.Context) error {
	defer h.ws.Subscribe(h.pending.add)()
	h.pending.signal(true, "") // changes since New
	unhashed := wake.New()
	var hashing sync.WaitGroup
	hashing.Go(func() { h.hashFiles(ctx, unhashed) })
	defer hashing.Wait()
	for range h.pending.wake.Until(ctx) {
		names, changed := h.pending.take()
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

func (p *pending) add(ev model.Event) {
	if ev.Kind == model.EventChanged && ev.Path.IsNote() {
		p.signal(false, ev.Path)
		return
	}
	p.signal(true, "")
}

func (p *pending) signal(names bool, changed model.Path) {
	p.mu.Lock()
	p.names = p.names || names
	if changed != "" {
		if p.changed == nil {
			p.changed = make(map[model.Path]bool)
		}
		p.changed[changed] = true
	}
	p.mu.Unlock()
	p.wake.Set()
}

func (p *pending) take() (names bool, changed map[model.Path]bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names, changed = p.names, p.changed
	p.names, p.changed = false, nil
	return names, changed
}
