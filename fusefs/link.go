//go:build !windows

package fusefs

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/bridge/model"
)

// Link is a symbolic link of the workspace. The kernel follows it, so that what it
// leads to has one inode, whatever the name that a program comes by.
type Link struct {
	fs.Inode
	t *tree

	// The following are protected by t.mu.
	path model.Path
	meta meta
}

func (l *Link) attr(ctx context.Context, out *fuse.Attr) error {
	info, err := l.t.ws.Stat(ctx, l.t.pathOf(&l.path))
	if err != nil {
		return err
	}
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	l.meta.fill(out, l.EmbeddedInode(), info.Size, info.ModTime, 1)
	return nil
}

func (l *Link) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return l.t.getattr(ctx, l, &l.path, out)
}

func (l *Link) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if !l.t.isPoke(ctx) {
		l.t.mu.Lock()
		l.meta.set(in, time.Now())
		l.t.mu.Unlock()
	}
	return l.Getattr(ctx, nil, out)
}

// Readlink is asked each time: where a link leads changes with other names.
func (l *Link) Readlink(ctx context.Context) ([]byte, syscall.Errno) {
	p := l.t.pathOf(&l.path)
	info, err := l.t.ws.Stat(ctx, p)
	return []byte(info.Target), l.t.errno("readlink", p, err)
}

// saveThrough is a save by rename over a link to a file, which stays: what the link
// leads to gets the content, as if the program had followed it. done says whether it
// is one.
func (t *tree) saveThrough(ctx context.Context, m *move, l *Link) (errno syscall.Errno, done bool) {
	f, ok := m.src.(*File)
	if !ok || f.isNote() {
		return 0, false
	}
	p, err := t.ws.Follow(m.newPath)
	if err != nil {
		return 0, false // it leads nowhere
	}
	at := *m
	if at.dst, at.newPath, err = t.lookup(ctx, p); err != nil {
		return t.errno("rename", p, err), true
	}
	defer t.holdCommits(f, at.dst)()
	switch at.dst.(type) {
	case *File:
		errno = t.saveAt(ctx, &at, f, l)
	case *Attachment:
		errno = t.export(ctx, &at, f)
	default:
		return 0, false
	}
	t.entryChanged(m.newPath) // the kernel has the file there
	return errno, true
}

// saveAt makes the content of the scratch file f that of the note at the new name,
// whose inode stays.
func (t *tree) saveAt(ctx context.Context, m *move, f *File, origin any) syscall.Errno {
	if t.ended.Load() {
		return syscall.EIO
	}
	if errno := t.creatable(ctx, m.newPath); errno != 0 {
		return errno
	}
	c, err := t.saveOf(ctx, m, f)
	if err == nil {
		c.write.Origin = origin
		_, _, err = t.store(ctx, m.newPath, c.doc, c.write)
	}
	if err != nil {
		return t.errno("rename", m.newPath, err)
	}
	t.mu.Lock()
	m.from.names().drop(m.name)
	m.from.touchLocked()
	t.mu.Unlock()
	f.supersede()
	return 0
}
