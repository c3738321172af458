package ysync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// Intervals of y-protocols. Peers drop a state that is not renewed.
const (
	renewAfter    = 15 * time.Second
	outdatedAfter = 30 * time.Second
	checkEvery    = 3 * time.Second
)

// forgetAfter is the time for which an Awareness stores the clock of a client that has left.
const forgetAfter = time.Hour

// Limits of the states of other clients.
const (
	maxClients   = 4096
	maxStateSize = 64 << 10 // bytes of one state
	maxStates    = 8 << 20  // bytes of all states
)

// ErrAwarenessLimit is returned for an awareness update with more clients or larger states than an Awareness can
// store. It leaves the Awareness unchanged.
var ErrAwarenessLimit = errors.New("too much awareness")

// An Awareness has the state of every present client of a document: one JSON value, ordered by a clock. It is safe
// for concurrent use.
type Awareness struct {
	mu        sync.Mutex // guards the fields below
	states    states
	listeners []*func(AwarenessEvent)
}

// states has the states of all clients. Clients that have left keep their clocks, so that late updates are recognised
// as old.
type states struct {
	local   ycrdt.ClientID
	clients map[ycrdt.ClientID]*clientState
	bytes   int // of all states
}

type clientState struct {
	state   json.RawMessage // nil if the client has left
	clock   uint64
	updated time.Time
}

// An AwarenessEvent lists the clients that have joined, changed or renewed their state, or left. A provider sends
// [Awareness.Encode] of all of them to its peers.
type AwarenessEvent struct {
	Added, Removed []ycrdt.ClientID
	Updated        []ycrdt.ClientID // clients that sent their state again, or another one
	Origin         any              // the argument of Apply or Remove, nil for a local change
}

func (e AwarenessEvent) Clients() []ycrdt.ClientID {
	return slices.Concat(e.Added, e.Updated, e.Removed)
}

// NewAwareness returns an Awareness with the local client client, which has no state yet.
func NewAwareness(client ycrdt.ClientID) *Awareness {
	return &Awareness{states: states{local: client, clients: make(map[ycrdt.ClientID]*clientState)}}
}

// OnUpdate makes the Awareness call fn after every change, without a lock held, until cancel is called.
func (a *Awareness) OnUpdate(fn func(AwarenessEvent)) (cancel func()) {
	l := &fn
	a.mu.Lock()
	defer a.mu.Unlock()
	a.listeners = append(a.listeners, l)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.listeners = slices.DeleteFunc(slices.Clone(a.listeners), func(other *func(AwarenessEvent)) bool { return other == l })
	}
}

// change runs fn and delivers the event that fn fills in.
func (a *Awareness) change(origin any, fn func(*states, *AwarenessEvent)) {
	e := AwarenessEvent{Origin: origin}
	a.mu.Lock()
	fn(&a.states, &e)
	listeners := a.listeners
	a.mu.Unlock()
	if len(e.Clients()) > 0 {
		for _, l := range listeners {
			(*l)(e)
		}
	}
}

// SetLocal sets the state of the local client as JSON; nil means that the client leaves.
func (a *Awareness) SetLocal(state any) error {
	data, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("awareness state: %w", err)
	}
	if state == nil {
		data = nil
	}
	a.change(nil, func(s *states, e *AwarenessEvent) {
		c := s.clients[s.local]
		switch {
		case c != nil && (data != nil || c.state != nil):
			s.set(e, s.local, data, c.clock+1)
		case c == nil && data != nil:
			// Receivers assume clock 0 for an unknown client, so the first clock is 1.
			s.set(e, s.local, data, 1)
		}
	})
	return nil
}

// Local returns the state of the local client as JSON, nil if there is none.
func (a *Awareness) Local() json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.states.clients[a.states.local]; c != nil {
		return slices.Clone(c.state)
	}
	return nil
}

// States returns the state of every present client, as JSON.
func (a *Awareness) States() map[ycrdt.ClientID]json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	states := make(map[ycrdt.ClientID]json.RawMessage, len(a.states.clients))
	for id, c := range a.states.clients {
		if c.state != nil {
			states[id] = slices.Clone(c.state)
		}
	}
	return states
}

// set gives a client a new state and clock, and adds the change to e.
func (s *states) set(e *AwarenessEvent, id ycrdt.ClientID, state json.RawMessage, clock uint64) {
	c := s.clients[id]
	if c == nil {
		c = &clientState{}
		s.clients[id] = c
	}
	switch {
	case state == nil && c.state != nil:
		e.Removed = append(e.Removed, id)
	case state == nil:
	case c.state == nil:
		e.Added = append(e.Added, id)
	default:
		e.Updated = append(e.Updated, id)
	}
	s.bytes += len(state) - len(c.state)
	c.state, c.clock, c.updated = state, clock, time.Now()
}

// Remove marks clients as gone. A provider that loses its connection removes all other clients.
func (a *Awareness) Remove(origin any, clients ...ycrdt.ClientID) {
	a.change(origin, func(s *states, e *AwarenessEvent) {
		for _, id := range clients {
			if c := s.clients[id]; c != nil && c.state != nil {
				clock := c.clock
				if id == s.local {
					clock++
				}
				s.set(e, id, nil, clock)
			}
		}
	})
}

func (a *Awareness) Others() []ycrdt.ClientID {
	return slices.DeleteFunc(a.present(), func(id ycrdt.ClientID) bool { return id == a.states.local })
}

// present returns the present clients, sorted.
func (a *Awareness) present() []ycrdt.ClientID {
	a.mu.Lock()
	defer a.mu.Unlock()
	ids := make([]ycrdt.ClientID, 0, len(a.states.clients))
	for id, c := range a.states.clients {
		if c.state != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Run renews the local state and drops clients that were silent for 30 seconds, until ctx ends. It returns the cause.
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
	var outdated []ycrdt.ClientID
	a.change(nil, func(s *states, renewed *AwarenessEvent) {
		for id, c := range s.clients {
			silent := now.Sub(c.updated)
			switch {
			case c.state == nil:
				if silent > forgetAfter {
					delete(s.clients, id)
				}
			case id == s.local && silent >= renewAfter:
				s.set(renewed, id, c.state, c.clock+1)
			case id != s.local && silent >= outdatedAfter:
				outdated = append(outdated, id)
			}
		}
	})
	slices.Sort(outdated)
	a.Remove(Timeout, outdated...)
}
