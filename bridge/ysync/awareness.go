package ysync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// The times of y-protocols. A state that is not renewed is dropped by others.
const (
	renewAfter    = 15 * time.Second
	outdatedAfter = 30 * time.Second
	checkEvery    = 3 * time.Second
)

// The most that an Awareness holds of others.
const (
	maxClients   = 4096
	maxStateSize = 64 << 10 // bytes of one state
	maxStates    = 8 << 20  // bytes of all states
)

// ErrAwarenessLimit is returned for an awareness update with more clients or
// larger states than an Awareness holds. Nothing has changed.
var ErrAwarenessLimit = errors.New("too much awareness")

// An Awareness knows what every client of a document says about itself: one
// JSON value, its state, for as long as the client is there. Clocks tell which
// of two states of one client is newer.
//
// All methods may be called from any goroutine.
type Awareness struct {
	client ycrdt.ClientID

	mu        sync.Mutex
	clients   map[ycrdt.ClientID]*clientState // protected by mu
	bytes     int                             // of all states; protected by mu
	listeners []*awarenessListener            // protected by mu
}

// clientState is what is known of one client. Those that have left are kept
// with their clock, so that late news of them are recognised as old.
type clientState struct {
	state   json.RawMessage // nil if the client has left
	clock   uint64
	updated time.Time
}

type awarenessListener struct {
	fn func(AwarenessEvent)
}

// An AwarenessEvent tells which clients have come, changed, renewed their state
// and left. A provider sends [Awareness.Encode] of all of them to its peers.
type AwarenessEvent struct {
	Added, Removed []ycrdt.ClientID
	Updated        []ycrdt.ClientID // all that were heard of again
	Changed        []ycrdt.ClientID // those of Updated whose state is another
	Origin         any              // as given to Apply or Remove, nil for a local change
}

// Clients returns all clients that the event is about.
func (e AwarenessEvent) Clients() []ycrdt.ClientID {
	return slices.Concat(e.Added, e.Updated, e.Removed)
}

func (e AwarenessEvent) empty() bool {
	return len(e.Added)+len(e.Updated)+len(e.Removed) == 0
}

// NewAwareness returns an Awareness in which the client with the given id, as
// which this side speaks, has no state yet.
func NewAwareness(client ycrdt.ClientID) *Awareness {
	return &Awareness{client: client, clients: make(map[ycrdt.ClientID]*clientState)}
}

// OnUpdate calls fn after every change, until cancel is called. No lock is held
// then; fn may use the Awareness.
func (a *Awareness) OnUpdate(fn func(AwarenessEvent)) (cancel func()) {
	l := &awarenessListener{fn}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listeners = append(a.listeners, l)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.listeners = slices.DeleteFunc(slices.Clone(a.listeners), func(other *awarenessListener) bool { return other == l })
	}
}

// unlockAndTell releases a.mu, which must be held, and delivers e.
func (a *Awareness) unlockAndTell(e AwarenessEvent) {
	listeners := a.listeners
	a.mu.Unlock()
	if e.empty() {
		return
	}
	for _, l := range listeners {
		l.fn(e)
	}
}

// Client returns the id as which this side speaks.
func (a *Awareness) Client() ycrdt.ClientID { return a.client }

// SetLocal makes state, which must encode as JSON, the state of this side; nil
// says that this side leaves.
func (a *Awareness) SetLocal(state any) error {
	data, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("awareness state: %w", err)
	}
	if state == nil {
		data = nil
	}
	a.mu.Lock()
	var e AwarenessEvent
	c := a.clients[a.client]
	if data != nil || (c != nil && c.state != nil) {
		// Receivers take a client that they do not know to be at clock 0, so
		// the first state of ours must have clock 1.
		clock := uint64(1)
		if c != nil {
			clock = c.clock + 1
		}
		a.set(&e, a.client, data, clock)
	}
	a.unlockAndTell(e)
	return nil
}

// Local returns the state of this side as JSON, nil if there is none.
func (a *Awareness) Local() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.clients[a.client]; c != nil {
		return slices.Clone(c.state)
	}
	return nil
}

// States returns the state of every client that is there, as JSON.
func (a *Awareness) States() map[ycrdt.ClientID]json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	states := make(map[ycrdt.ClientID]json.RawMessage, len(a.clients))
	for id, c := range a.clients {
		if c.state != nil {
			states[id] = slices.Clone(c.state)
		}
	}
	return states
}

// set gives a client a new state and clock and adds that to e.
func (a *Awareness) set(e *AwarenessEvent, id ycrdt.ClientID, state json.RawMessage, clock uint64) {
	c := a.clients[id]
	if c == nil {
		c = &clientState{}
		a.clients[id] = c
	}
	switch {
	case state == nil && c.state != nil:
		e.Removed = append(e.Removed, id)
	case state == nil:
	case c.state == nil:
		e.Added = append(e.Added, id)
	default:
		e.Updated = append(e.Updated, id)
		if !sameJSON(c.state, state) {
			e.Changed = append(e.Changed, id)
		}
	}
	a.bytes += len(state) - len(c.state)
	c.state, c.clock, c.updated = state, clock, time.Now()
}

// sameJSON compares values, not texts.
func sameJSON(a, b json.RawMessage) bool {
	if string(a) == string(b) {
		return true
	}
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// Remove says that clients have left, as a provider does for all others when
// its connection is lost.
func (a *Awareness) Remove(origin any, clients ...ycrdt.ClientID) {
	a.mu.Lock()
	e := AwarenessEvent{Origin: origin}
	for _, id := range clients {
		if c := a.clients[id]; c != nil && c.state != nil {
			clock := c.clock
			if id == a.client {
				clock++
			}
			a.set(&e, id, nil, clock)
		}
	}
	a.unlockAndTell(e)
}

// Others returns the clients that are there, without this side.
func (a *Awareness) Others() []ycrdt.ClientID {
	states := a.States()
	delete(states, a.client)
	return slices.Sorted(maps.Keys(states))
}

// Run renews the state of this side and drops clients that were not heard of
// for 30 seconds, until ctx ends. It returns the cause of that.
func (a *Awareness) Run(ctx context.Context) error {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			a.check()
		}
	}
}

// Timeout is the Origin of events about clients that Run has dropped.
const Timeout = "timeout"

func (a *Awareness) check() {
	now := time.Now()
	a.mu.Lock()
	var renewed AwarenessEvent
	var outdated []ycrdt.ClientID
	for id, c := range a.clients {
		silent := now.Sub(c.updated)
		switch {
		case c.state == nil:
			if silent > forgetAfter {
				delete(a.clients, id)
			}
		case id == a.client && silent >= renewAfter:
			a.set(&renewed, id, c.state, c.clock+1)
		case id != a.client && silent >= outdatedAfter:
			outdated = append(outdated, id)
		}
	}
	a.unlockAndTell(renewed)
	slices.Sort(outdated)
	a.Remove(Timeout, outdated...)
}

// forgetAfter is how long the clock of a client that has left is remembered.
const forgetAfter = time.Hour
