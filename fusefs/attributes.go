//go:build !windows

package fusefs

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// common is embedded in all inodes of the mount.
type common struct {
	fs.Inode
	t *tree
	location
	attributes

	// commitMu admits one commit or change of name of a File or an Attachment at a time. It is held during calls to the
	// workspace. tree.holdCommits locks the commitMu of several nodes together.
	commitMu sync.Mutex
}

func (t *tree) newCommon(mode uint32) common {
	return common{t: t, attributes: attributes{mode: mode, uid: t.uid, gid: t.gid}}
}

func (c *common) Getattr(ctx context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return c.t.errno.Of(ctx, "getattr", c.path(), c.Operations().(node).attr(ctx, &out.Attr))
}

func (c *common) Setattr(ctx context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if !c.t.isWatchNotification(ctx) {
		c.set(in)
	}
	out.SetTimeout(cacheTimeout)
	return c.Getattr(ctx, nil, out)
}

// chmod sets the permissions in the workspace if the SETATTR changes them. The workspace has no other mode bits.
func (c *common) chmod(ctx context.Context, in *fuse.SetAttrIn) syscall.Errno {
	mode, ok := in.GetMode()
	if !ok || mode&0o7777 == c.permissions() {
		return 0
	}
	p := c.path()
	return c.t.errno.Of(ctx, "chmod", p, c.t.ws.Chmod(context.WithoutCancel(ctx), p, os.FileMode(mode&0o777), c.t.isMounts))
}

// attributes are the values that programs set on an inode. The mount stores them because editors and copying tools
// check them. It publishes none of them except the permissions (see chmod).
type attributes struct {
	mu       sync.Mutex // guards the fields below
	mode     uint32     // permission bits
	uid, gid uint32
	times    *times // nil if no time was ever set, as for most files
}

// times are the times that programs have set. If a time is zero, the inode shows the time of its content instead.
type times struct{ atime, mtime, ctime time.Time }

func (a *attributes) setTimes() times {
	if a.times == nil {
		return times{}
	}
	return *a.times
}

func (a *attributes) set(in *fuse.SetAttrIn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if mode, ok := in.GetMode(); ok {
		a.mode = mode & 0o7777
	}
	if uid, ok := in.GetUID(); ok {
		a.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		a.gid = gid
	}
	set := a.setTimes()
	if t, ok := in.GetATime(); ok {
		set.atime = t
	}
	if t, ok := in.GetMTime(); ok {
		set.mtime = t
	}
	set.ctime = time.Now()
	a.times = &set
}

func (a *attributes) permissions() uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mode
}

func (a *attributes) setPermissions(mode uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode = mode & 0o7777
}

// followContent drops a modification time that a program has set, because that time belonged to the previous content.
func (a *attributes) followContent() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.times != nil {
		a.times.mtime = time.Time{}
	}
}

// inherit copies all attributes except the modification time from another inode.
func (a *attributes) inherit(from *attributes) {
	from.mu.Lock()
	defer from.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mode, a.uid, a.gid = from.mode, from.uid, from.gid
	fromTimes := from.setTimes()
	fromTimes.mtime = a.setTimes().mtime
	if a.times = nil; fromTimes != (times{}) {
		a.times = &fromTimes
	}
}

// wereSet reports whether a program has set any attribute. Such attributes exist only on this mount.
func (a *attributes) wereSet() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.times != nil
}

func (a *attributes) setBefore(t time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.setTimes().ctime.Before(t)
}

// fill fills in all attributes of an inode with size bytes that were changed at modTime. go-fuse completes most
// answers, but not the answer to SETATTR.
func (a *attributes) fill(out *fuse.Attr, inode *fs.Inode, size int64, modTime time.Time, nlink uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	set, mtime := a.setTimes(), modTime
	if !set.mtime.IsZero() {
		mtime = set.mtime
	}
	atime, ctime := mtime, mtime
	if !set.atime.IsZero() {
		atime = set.atime
	}
	if set.ctime.After(modTime) {
		ctime = set.ctime
	} else if modTime.After(mtime) {
		ctime = modTime
	}
	out.SetTimes(&atime, &mtime, &ctime)
	out.Ino = inode.StableAttr().Ino
	out.Mode = inode.Mode() | a.mode
	out.Uid, out.Gid = a.uid, a.gid
	out.Size = uint64(size)
	out.Blksize = 4096
	out.Blocks = (out.Size + 511) / 512
	out.Nlink = nlink
}
