package yserve

import "github.com/relayfs/relayfs/bridge/token"

// keys are what tokens are checked and made with.
type keys struct {
	ring token.Ring
	mint *token.Key
}

// SetKeys puts others in the place of Options.Keys, of which there are some, and
// Options.Mint. Connections whose tokens are void then end with the code 1008.
func (s *Server) SetKeys(ring token.Ring, mint *token.Key) {
	if s.open() || len(ring) == 0 {
		return // who was let in without a token has none
	}
	s.keys.Store(&keys{ring, mint})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rooms {
		r.recheck()
	}
}

// recheck ends the connections whose tokens are not taken any more.
func (r *room) recheck() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.clients {
		c.recheck()
	}
}

func (c *client) recheck() {
	if _, err := c.room.s.verify(c.token); err != nil {
		c.socket.end(errRevoked)
	}
}
