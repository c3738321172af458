package model

import (
	"sync"
	"time"
)

// Sequence numbers the decisions and proposals of a workspace in the order in which they are made, in all its roots.
// The numbers increase even if the clock is set back, and a restarted process continues after the stored ones. The zero
// Sequence is ready.
type Sequence struct {
	mu   sync.Mutex // guards last
	last uint64
}

// Next returns the current time in microseconds, or the last number plus one if that is greater. So the clock affects
// only the order between roots that separate processes served.
func (s *Sequence) Next() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last+1, uint64(max(0, time.Now().UnixMicro())))
	return s.last
}

func (s *Sequence) Last() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Pass makes later numbers exceed n.
func (s *Sequence) Pass(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, n)
}
