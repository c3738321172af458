//go:build !windows

package fusefs

import (
	"context"
	"strings"
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
func (t *tree) moveOver(ctx context.Context, m *move, f *File) (errno syscall.Errno, done bool) {
	if !m.newPath.IsNote() || !t.ws.HasNote(m.newPath) {
		return 0, false
	}
	err := f.pin(ctx)
	defer f.unpin()
	if err == nil {
		err = f.refresh(ctx)
	}
	if err != nil {
		return 0, false
	}
	fresh, ok := t.freshAt(ctx, m.oldPath, f)
	if !ok {
		return 0, false
	}
	was := f.lend()
	if errno := t.adopt(ctx, m, f); errno != 0 {
		f.giveBack(was)
		return errno, true
	}
	if fresh != nil {
		t.retract(ctx, m, fresh)
	}
	if _, err := t.ws.Stat(ctx, m.oldPath); err == nil {
		t.entryChanged(m.oldPath) // somebody else's is there, or it is more than what was moved
	}
	return 0, true
}

// freshAt says whether f, the note at p, may become another note's new content, and
// what the workspace has of it, nil if nothing.
func (t *tree) freshAt(ctx context.Context, p model.Path, f *File) (fresh *bridge.Fresh, ok bool) {
	f.mu.Lock()
	unborn, from := f.doc == 0, f.image
	if f.buf != nil {
		from = f.buf.from
	}
	spoiled := f.isSpoiled()
	f.mu.Unlock()
	if unborn || spoiled {
		return nil, !spoiled
	}
	fresh, ok = t.ws.FreshNote(ctx, p, t.isMounts)
	return fresh, ok && fresh.Text() == from.text
}

// isMounts says whether an author is a program on this mount.
func (t *tree) isMounts(a model.Author) bool {
	return a.Name != "" && a.Name == t.author && strings.HasPrefix(a.Session, sessionPrefix)
}

// retract takes away what the workspace has of the file that was moved.
func (t *tree) retract(ctx context.Context, m *move, fresh *bridge.Fresh) {
	err := t.ws.Sync(ctx, m.newPath) // its content is nowhere else from now on
	if err == nil {
		err = fresh.Retract(ctx, t)
	}
	if err != nil {
		t.log.Warn("renamed over a note, and stays besides", model.LogPath, string(m.oldPath), model.LogErr, err)
	}
}

// lent is what a note knows of its document while it is a scratch file, in order to
// become another note.
type lent struct {
	doc    uint64
	image  image
	latest *model.Version
	clean  bool // without a buffer
}

func (f *File) lend() lent {
	f.mu.Lock()
	defer f.mu.Unlock()
	was := lent{f.doc, f.image, f.latest, f.buf == nil}
	f.detach()
	return was
}

// giveBack makes f the note again that it was. Nothing that was written to it
// meanwhile is lost.
func (f *File) giveBack(was lent) {
	defer f.release()
	f.t.dirtied(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note, f.doc, f.image, f.latest = true, was.doc, was.image, was.latest
	if was.clean {
		f.buf.from, f.buf.first = was.image, true
	}
	if f.buf.dirty() {
		f.arm(quiet)
	}
	f.settle()
}
