package mcpproxy

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"
)

// upstream is one connection to a server.
type upstream struct {
	stream io.ReadWriteCloser
	ended  chan struct{} // closed after its last message

	mu      sync.Mutex         // protects the following
	pending map[string]message // requests without an answer, by id; nil once it has ended
	why     error              // why the proxy closed it
}

// lookEvery is how often the proxy checks a server that owes an answer.
const lookEvery = 2 * time.Second

// attend closes the connection if the process at its other end owes an answer and does not run.
func (u *upstream) attend(ctx context.Context) {
	s, ok := u.stream.(interface{ Alive(context.Context) error })
	if !ok {
		return // within this process
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.ended:
			return
		case <-tick.C:
		}
		if !u.owes() {
			continue
		}
		if err := s.Alive(ctx); err != nil && ctx.Err() == nil {
			u.mu.Lock()
			u.why = err
			u.mu.Unlock()
			u.stream.Close()
			return
		}
	}
}

func (u *upstream) owes() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.pending) > 0
}

// send sends a message to the server. It returns false if the connection has ended or takes no more. If
// it ends later, end returns the message.
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
	case err != nil && n == 0: // it has stopped reading, but still answers what it has read
		u.answered(m)
		return false
	case err != nil:
		u.stream.Close()
	}
	return true
}

// answered removes the request that m answers, and returns it.
func (u *upstream) answered(m message) message {
	u.mu.Lock()
	defer u.mu.Unlock()
	request := u.pending[m.key()]
	delete(u.pending, m.key())
	return request
}

// end returns the client's requests without an answer, and the text to answer them with.
func (u *upstream) end() (left []message, text string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, m := range u.pending {
		if !m.replay {
			left = append(left, m)
		}
	}
	u.pending = nil
	if u.why != nil {
		return left, fmt.Sprintf("There is no answer: %v. Whether anything was changed is not known. Try again when it runs; read the document first.", u.why)
	}
	return left, lostAnswer
}
