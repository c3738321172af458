package ysync

import (
	"encoding/binary"
	"encoding/json"
	"maps"

	"github.com/relayfs/relayfs/bridge/ycrdt"
)

type wireState struct {
	client ycrdt.ClientID
	clock  uint64
	state  json.RawMessage // nil if the client has left
}

// Encode returns an awareness update with the states and clocks of the given clients. It omits unknown clients.
func (a *Awareness) Encode(clients ...ycrdt.ClientID) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	var body []byte
	n := uint64(0)
	for _, id := range clients {
		c := a.states.clients[id]
		if c == nil {
			continue
		}
		state := []byte(c.state)
		if c.state == nil {
			state = []byte("null")
		}
		n++
		body = binary.AppendUvarint(binary.AppendUvarint(body, uint64(id)), c.clock)
		body = appendBytes(body, state)
	}
	return append(binary.AppendUvarint(nil, n), body...)
}

func (a *Awareness) EncodeAll() []byte {
	return a.Encode(a.present()...)
}

// Apply merges an awareness update. If another client claims that the local client has left, the event lists the
// local client as updated, with a higher clock, to contradict the claim.
//
// After an error, which wraps [ErrMalformed] or is [ErrAwarenessLimit], the Awareness is unchanged.
func (a *Awareness) Apply(update []byte, origin any) error {
	updates, err := decodeAwareness(update)
	if err != nil {
		return err
	}
	a.change(origin, func(s *states, e *AwarenessEvent) {
		if !s.hasRoom(updates) {
			err = ErrAwarenessLimit
			return
		}
		for _, w := range updates {
			s.merge(e, w)
		}
	})
	return err
}

// merge applies w if it is newer than the current state.
func (s *states) merge(e *AwarenessEvent, w wireState) {
	var have clientState
	if c := s.clients[w.client]; c != nil {
		have = *c
	}
	leaves := w.state == nil
	if w.clock < have.clock || (w.clock == have.clock && !(leaves && have.state != nil)) {
		return
	}
	if leaves && w.client == s.local && have.state != nil {
		w.state = have.state
		w.clock++
	}
	s.set(e, w.client, w.state, w.clock)
}

// hasRoom reports whether all updates fit. If necessary, it drops clients that have left.
func (s *states) hasRoom(updates []wireState) bool {
	bytes, unknown := s.bytes, 0
	for _, w := range updates {
		if len(w.state) > maxStateSize {
			return false
		}
		bytes += len(w.state)
		if s.clients[w.client] == nil {
			unknown++
		}
	}
	if len(s.clients)+unknown > maxClients {
		maps.DeleteFunc(s.clients, func(_ ycrdt.ClientID, c *clientState) bool { return c.state == nil })
	}
	return bytes <= maxStates && len(s.clients)+unknown <= maxClients
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
