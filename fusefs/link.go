//go:build !windows

package fusefs

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// Link is a symbolic link of the workspace. The kernel follows it, so that what it
// leads to has one inode, whatever the name that a program comes by.
type Link struct {
	fs.Inode
	t *tree
	place
	meta meta // protected by names.mu
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
		l.t.set(&l.meta, in)
	}
	return l.Getattr(ctx, nil, out)
}

// Readlink is asked each time: where a link leads changes with other names.
func (l *Link) Readlink(ctx context.Context) ([]byte, syscall.Errno) {
	p := l.t.pathOf(&l.path)
	info, err := l.t.ws.Stat(ctx, p)
	return []byte(info.Target), l.t.errno.Of("readlink", p, err)
}
