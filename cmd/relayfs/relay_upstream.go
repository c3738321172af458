package main

import (
	"io"
	"sync"
)

// upstream is one connection to a server.
type upstream struct {
	stream io.ReadWriteCloser
	ended  chan struct{} // closed when nothing more comes from it

	mu      sync.Mutex         // protects the following
	pending map[string]message // requests without an answer, by id; nil once it has ended
}

// send passes a message to the server. false means that the connection has
// ended, or takes no more; when it ends later, end has the message.
func (u *upstream) send(m message, line []byte) bool {
	u.mu.Lock()
	alive := u.pending != nil
	if alive && m.isRequest() {
		u.pending[m.key()] = m
	}
	u.mu.Unlock()
	if !alive {
		return false
	}
	n, err := u.stream.Write(line)
	switch {
	case err != nil && n == 0: // it reads no more; what it has read it still answers
		u.answered(m)
		return false
	case err != nil:
		u.stream.Close()
	}
	return true
}

// answered takes the request that m answers off the list.
func (u *upstream) answered(m message) message {
	u.mu.Lock()
	defer u.mu.Unlock()
	request := u.pending[m.key()]
	delete(u.pending, m.key())
	return request
}

// end returns the client's requests without an answer; there will be none.
func (u *upstream) end() []message {
	u.mu.Lock()
	defer u.mu.Unlock()
	var left []message
	for _, m := range u.pending {
		if !m.replay {
			left = append(left, m)
		}
	}
	u.pending = nil
	return left
}
