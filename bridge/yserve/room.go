package yserve

import (
	"context"
	"math/rand/v2"
	"sync"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve/host"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// room is one document with the connections that have it open and what they say
// about themselves.
type room struct {
	s         *Server
	doc       *host.Document
	awareness *ysync.Awareness
	members   int // protected by Server.mu
	end       func()

	mu      sync.Mutex // protects the following
	clients map[*client]struct{}
}

// join enters the room of a document, which is opened for its first member.
func (s *Server) join(ctx context.Context, id string, create bool) (*room, error) {
	id, _ = s.own(id)
	d, err := s.host.Open(ctx, id, create)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[id]; r != nil && r.doc == d {
		r.members++
		d.Close() // the room holds it
		return r, nil
	}
	if len(s.rooms) >= s.o.Limits.Documents {
		d.Close()
		return nil, errBusy
	}
	r := &room{s: s, doc: d, members: 1, clients: make(map[*client]struct{})}
	r.awareness = ysync.NewAwareness(ycrdt.ClientID(rand.Uint32()))
	run, cancel := context.WithCancel(context.Background())
	stopUpdates := d.Doc().OnUpdate(r.sendUpdate)
	stopAwareness := r.awareness.OnUpdate(r.sendAwareness)
	var running sync.WaitGroup
	running.Go(func() { _ = r.awareness.Run(run) }) // ends with run
	running.Go(func() { r.watch(run) })
	r.end = func() {
		cancel()
		stopUpdates()
		stopAwareness()
		running.Wait()
		d.Close()
	}
	s.rooms[id] = r
	return r, nil
}

// watch tells the clients when the document is over.
func (r *room) watch(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.doc.Over():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		c.over()
	}
}

// leave ends one membership; with the last one the room is closed.
func (r *room) leave() {
	r.s.mu.Lock()
	r.members--
	last := r.members == 0
	if last && r.s.rooms[r.doc.ID()] == r {
		delete(r.s.rooms, r.doc.ID())
	}
	r.s.mu.Unlock()
	if last {
		r.end()
	}
}

func (r *room) add(c *client) {
	r.mu.Lock()
	r.clients[c] = struct{}{}
	r.mu.Unlock()
	select {
	case <-r.doc.Over():
		c.over() // watch may have told before
	default:
	}
	c.recheck() // as SetKeys may have done
}

func (r *room) remove(c *client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.clients, c)
}

// each queues a frame for every connection but one.
func (r *room) each(frame []byte, but any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		if any(c) != but {
			c.queue(frame)
		}
	}
}

// sendUpdate passes on a change to all but its sender.
func (r *room) sendUpdate(update []byte, origin any) {
	o, _ := origin.(host.Origin)
	r.each(ysync.AppendUpdate(nil, update), o.Sender)
}

// sendAwareness passes on who came, changed, was heard of or left: to the sender,
// too, which takes it as a sign of life of the server.
func (r *room) sendAwareness(ev ysync.AwarenessEvent) {
	if c, ok := ev.Origin.(*client); ok {
		c.announced(ev)
	}
	r.each(ysync.AppendAwareness(nil, r.awareness.Encode(ev.Clients()...)), nil)
}
