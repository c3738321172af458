package fusefs

import (
	"context"
	"time"
)

// Evict does what is done for an idle mount, as if nobody had used it.
func (s *Server) Evict(ctx context.Context, keep int) {
	s.tree.used.Store(false)
	s.tree.evict(ctx, keep)
	s.tree.forgetUnused(time.Now().Add(-time.Second))
}

// Housekeep is what is done now and then, but that no note is left to the kernel.
func (s *Server) Housekeep(ctx context.Context) { s.tree.evict(ctx, 0) }

// EndIfUnmounted does the check that the server repeats every minute.
func (s *Server) EndIfUnmounted() { s.endIfUnmounted() }

// Inodes is how many inodes of notes the kernel has.
func (s *Server) Inodes() int { return len(s.tree.oldest(0)) }

// Nodes is how many nodes of the workspace the tree has.
func (s *Server) Nodes() (n int) {
	s.tree.update(func(tb *tableState) { n = len(tb.nodes) })
	return n
}

// Free ends the mount at dir as that of a process that was killed.
func Free(dir string) error {
	m, err := mountOf(dir)
	if err != nil {
		return err
	}
	return m.free()
}
