//go:build !windows

package fusefs

import (
	"context"
	"syscall"
)

// exchangeable says whether two names can be exchanged: those of two files of the
// workspace, or of two of the scratch layer. Between the two it would be a save and a
// loss at once, and folders are not exchanged.
func (t *tree) exchangeable(m *move) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, fromDir := m.src.(*Dir)
	_, toDir := m.dst.(*Dir)
	return !fromDir && !toDir && (m.from.names().get(m.name) != nil) == (m.to.names().get(m.newName) != nil)
}

// exchange lets two files change names.
func (t *tree) exchange(ctx context.Context, m *move) syscall.Errno {
	t.mu.Lock()
	if m.from.names().get(m.name) != nil {
		m.from.names().put(m.name, m.dst)
		m.to.names().put(m.newName, m.src)
		m.from.touchLocked()
		m.to.touchLocked()
		t.mu.Unlock()
		return 0
	}
	t.mu.Unlock()
	for _, n := range []node{m.src, m.dst} {
		f, ok := n.(*File)
		if !ok {
			continue
		}
		if err := f.commitHeld(ctx, true); err != nil {
			return t.errno("rename", t.pathOf(&f.path), err)
		}
	}
	return t.errno("rename", m.oldPath, t.ws.Exchange(ctx, m.oldPath, m.newPath, t.restructuring(ctx)))
}
