//go:build !windows

package fusefs

import (
	"context"
	"syscall"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// sort Note.md > new.md && mv new.md Note.md is a save of Note.md, as it is with a
// temporary name. But a new file of a note's name is a note, which nothing tells from
// one that is to stay until it is renamed. If it is the mount's alone by then (see
// bridge.Fresh), or not even in the workspace yet, it becomes the inode of the note
// that it replaces, as a scratch file does, and its own note goes without a trace.
//
// The note has its new content, durably, before the fresh one goes. A crash in
// between leaves both, and so does somebody who changed the fresh one in between.

// moveOver is such a rename; done says whether it is one.
func (m *move) moveOver(ctx context.Context, f *File) (errno syscall.Errno, done bool) {
	if !m.newPath.IsNote() || !m.ws.HasNote(m.newPath) {
		return 0, false
	}
	err := f.pin(ctx)
	defer f.unpin()
	if err != nil {
		return 0, false
	}
	fresh, ok := m.freshAt(ctx, f)
	if !ok {
		return 0, false
	}
	if errno := m.adopt(ctx, f); errno != 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.settle()
		return errno, true
	}
	if fresh != nil {
		m.retract(ctx, fresh)
	}
	if _, err := m.ws.Stat(ctx, m.oldPath); err == nil {
		m.entryChanged(m.oldPath) // somebody else's is there, or it is more than what was moved
	}
	return 0, true
}

// freshAt says whether f, the note at the old name, may become another note's new content,
// and what the workspace has of it, nil if nothing.
func (m *move) freshAt(ctx context.Context, f *File) (fresh *bridge.Fresh, ok bool) {
	f.mu.Lock()
	f.text.Show()
	from, b := f.text.Base(), f.text.Buffer()
	unborn, spoiled := f.doc == 0, b != nil && b.Spoiled != nil
	f.mu.Unlock()
	if unborn || spoiled {
		return nil, !spoiled
	}
	fresh, ok = m.ws.FreshNote(ctx, m.oldPath, m.isMounts)
	return fresh, ok && fresh.Text() == from.Text
}

// retract takes away what the workspace has of the file that was moved.
func (m *move) retract(ctx context.Context, fresh *bridge.Fresh) {
	err := m.ws.Sync(ctx, m.newPath) // its content is nowhere else from now on
	if err == nil {
		err = fresh.Retract(ctx, m.tree)
	}
	if err != nil {
		m.log.Warn("renamed over a note, and stays besides", model.LogPath, string(m.oldPath), model.LogErr, err)
	}
}
