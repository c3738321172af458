package ysync

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// A wireState is one entry of an awareness update.
type wireState struct {
	client ycrdt.ClientID
	clock  uint64
	state  json.RawMessage // nil: the client has left
}

// Encode returns an awareness update with the states and clocks of the given
// clients. Those that it knows nothing of are left out.
func (a *Awareness) Encode(clients ...ycrdt.ClientID) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	var body []byte
	n := uint64(0)
	for _, id := range clients {
		c := a.clients[id]
		if c == nil {
			continue
		}
		state := c.state
		if state == nil {
			state = json.RawMessage("null")
		}
		n++
		body = appendUint(appendUint(body, uint64(id)), c.clock)
		body = appendBytes(body, []byte(state))
	}
	return append(appendUint(nil, n), body...)
}

// EncodeAll returns an awareness update with everybody who is there.
func (a *Awareness) EncodeAll() []byte {
	a.mu.Lock()
	ids := make([]ycrdt.ClientID, 0, len(a.clients))
	for id, c := range a.clients {
		if c.state != nil {
			ids = append(ids, id)
		}
	}
	a.mu.Unlock()
	slices.Sort(ids)
	return a.Encode(ids...)
}

// Apply takes over what is new in an awareness update. Should another client
// say that this side has left, it is contradicted: the event names this side as
// updated, with a higher clock.
//
// When an error is returned, which wraps [ErrMalformed] or is
// [ErrAwarenessLimit], nothing has changed.
func (a *Awareness) Apply(update []byte, origin any) error {
	states, err := decodeAwareness(update)
	if err != nil {
		return err
	}
	a.mu.Lock()
	if !a.hasRoom(states) {
		a.mu.Unlock()
		return ErrAwarenessLimit
	}
	e := AwarenessEvent{Origin: origin}
	for _, w := range states {
		a.merge(&e, w)
	}
	a.unlockAndTell(e)
	return nil
}

// merge takes over w if it is newer than what is known.
func (a *Awareness) merge(e *AwarenessEvent, w wireState) {
	var known clientState
	if c := a.clients[w.client]; c != nil {
		known = *c
	}
	leaves := w.state == nil
	if w.clock < known.clock || (w.clock == known.clock && !(leaves && known.state != nil)) {
		return
	}
	if leaves && w.client == a.client && known.state != nil {
		w.state = known.state
		w.clock++
	}
	a.set(e, w.client, w.state, w.clock)
}

// hasRoom reports whether a could take over all of states. If need be it
// forgets who has left.
func (a *Awareness) hasRoom(states []wireState) bool {
	bytes, unknown := a.bytes, 0
	for _, w := range states {
		if len(w.state) > maxStateSize {
			return false
		}
		bytes += len(w.state)
		if a.clients[w.client] == nil {
			unknown++
		}
	}
	if len(a.clients)+unknown > maxClients {
		maps.DeleteFunc(a.clients, func(_ ycrdt.ClientID, c *clientState) bool { return c.state == nil })
	}
	return bytes <= maxStates && len(a.clients)+unknown <= maxClients
}

func decodeAwareness(update []byte) ([]wireState, error) {
	r := reader{buf: update}
	n := r.uint("number of clients")
	if n > uint64(len(r.buf)/3) {
		r.fail("number of clients")
	}
	states := make([]wireState, 0, min(n, uint64(len(r.buf)/3)))
	for ; n > 0 && r.err == nil; n-- {
		w := wireState{client: ycrdt.ClientID(r.uint("client")), clock: r.uint("clock")}
		w.state = json.RawMessage(r.text("state"))
		if r.err == nil && !json.Valid(w.state) {
			r.fail("state is no JSON")
		}
		if string(w.state) == "null" {
			w.state = nil
		}
		states = append(states, w)
	}
	return states, r.err
}
