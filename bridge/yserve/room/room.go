package room

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/bridge/yserve/access"
	"github.com/relayfs/relayfs/bridge/yserve/host"
	"github.com/relayfs/relayfs/bridge/ysync"
)

// Options configure Rooms.
type Options struct {
	Host      *host.Host
	Access    *access.Access
	Relay     Relay
	Documents int // rooms at a time
	Log       *slog.Logger
}

// Rooms are the open rooms.
type Rooms struct {
	o Options

	mu    sync.Mutex // protects the following
	rooms map[string]*Room
}

// New returns Rooms without an open one.
func New(o Options) *Rooms { return &Rooms{o: o, rooms: make(map[string]*Room)} }

// Relay is the id of the relay that the folders belong to, "" for none.
type Relay string

// Own returns the id of a document in the workspace, which a client may call RELAY-ID;
// prefix is what precedes it.
func (r Relay) Own(id string) (own, prefix string) {
	if rest, ok := strings.CutPrefix(id, string(r)+"-"); ok && r != "" && rest != "" {
		return rest, string(r) + "-"
	}
	return id, ""
}

// Recheck ends the connections whose tokens are not valid any more.
func (s *Rooms) Recheck() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rooms {
		r.recheck()
	}
}

// Room is one document with its connections and their awareness states.
type Room struct {
	rooms     *Rooms
	doc       *host.Document
	awareness *ysync.Awareness
	members   int // protected by Rooms.mu
	end       func()

	mu      sync.Mutex // protects the following
	clients map[*Client]struct{}
}

// Join enters the room of a document, which it opens for the first member.
func (s *Rooms) Join(ctx context.Context, id string, create bool) (*Room, error) {
	id, _ = s.o.Relay.Own(id)
	d, err := s.o.Host.Open(ctx, id, create)
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
	if len(s.rooms) >= s.o.Documents {
		d.Close()
		return nil, access.ErrBusy
	}
	r := &Room{rooms: s, doc: d, members: 1, clients: make(map[*Client]struct{})}
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

// watch tells the clients when the document is closed.
func (r *Room) watch(ctx context.Context) {
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

// Leave ends one membership; the last one closes the room.
func (r *Room) Leave() {
	r.rooms.mu.Lock()
	r.members--
	last := r.members == 0
	if last && r.rooms.rooms[r.doc.ID()] == r {
		delete(r.rooms.rooms, r.doc.ID())
	}
	r.rooms.mu.Unlock()
	if last {
		r.end()
	}
}

func (r *Room) add(c *Client) {
	r.mu.Lock()
	r.clients[c] = struct{}{}
	r.mu.Unlock()
	select {
	case <-r.doc.Over():
		c.over() // watch may have run before
	default:
	}
	c.recheck() // Recheck may have run before
}

func (r *Room) remove(c *Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.clients, c)
}

func (r *Room) recheck() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		c.recheck()
	}
}

// each queues a frame for every connection but one.
func (r *Room) each(frame []byte, but any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		if any(c) != but {
			c.queue(frame)
		}
	}
}

func (r *Room) sendUpdate(update []byte, origin any) {
	o, _ := origin.(host.Origin)
	r.each(ysync.AppendUpdate(nil, update), o.Sender)
}

// sendAwareness sends awareness states to all clients: also to the sender, which takes that
// as a sign of life of the server.
func (r *Room) sendAwareness(ev ysync.AwarenessEvent) {
	if c, ok := ev.Origin.(*Client); ok {
		c.announced(ev)
	}
	r.each(ysync.AppendAwareness(nil, r.awareness.Encode(ev.Clients()...)), nil)
}
