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

// Link is a symbolic link of the workspace. The kernel follows the link, so that a file has the same inode at its own
// path and at the paths of links to it.
type Link struct{ common }

func (l *Link) attr(ctx context.Context, out *fuse.Attr) error {
	info, err := l.t.ws.Stat(ctx, l.path())
	if err == nil {
		l.fill(out, l.EmbeddedInode(), info.Size, info.ModTime, 1)
	}
	return err
}

// Readlink asks the workspace each time, because a link's target path changes when other names change.
func (l *Link) Readlink(ctx context.Context) ([]byte, syscall.Errno) {
	p := l.path()
	info, err := l.t.ws.Stat(ctx, p)
	return []byte(info.Target), l.t.errno.Of(ctx, "readlink", p, err)
}

// ScratchLink is a symbolic link of the scratch layer. Emacs uses such links as locks.
type ScratchLink struct {
	common
	target  string
	created time.Time
}

func (l *ScratchLink) attr(_ context.Context, out *fuse.Attr) error {
	l.fill(out, l.EmbeddedInode(), int64(len(l.target)), l.created, 1)
	return nil
}

func (l *ScratchLink) Readlink(context.Context) ([]byte, syscall.Errno) { return []byte(l.target), 0 }

func (o *overlay) Symlink(ctx context.Context, target, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if !isScratchAt(o.folder(), name) {
		return nil, syscall.EPERM
	}
	l := &ScratchLink{common: o.t.newCommon(0o777), target: target, created: time.Now()}
	err := o.addScratch(ctx, name, l, syscall.S_IFLNK, &out.Attr)
	return l.EmbeddedInode(), o.t.errno.Of(ctx, "symlink", model.Path(name), err)
}

// Link refuses every hard link, because a document has only one name. Programs then use a rename.
func (*overlay) Link(context.Context, fs.InodeEmbedder, string, *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return nil, syscall.EPERM
}
