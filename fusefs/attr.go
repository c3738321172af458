//go:build !windows

package fusefs

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// keepFlag is flags by which the kernel keeps what it has, where it may.
func keepFlag(flags uint32) uint32 {
	if keepCaches {
		return flags
	}
	return 0
}

// meta is what programs set on an inode besides its content. It is remembered,
// because editors and copying tools check it, and never published.
type meta struct {
	mode                uint32 // permission bits
	uid, gid            uint32
	atime, mtime, ctime time.Time // zero: follow the content
}

// set takes over what a SETATTR says, but for the size.
func (m *meta) set(in *fuse.SetAttrIn, now time.Time) {
	if mode, ok := in.GetMode(); ok {
		m.mode = mode & 0o7777
	}
	if uid, ok := in.GetUID(); ok {
		m.uid = uid
	}
	if gid, ok := in.GetGID(); ok {
		m.gid = gid
	}
	if t, ok := in.GetATime(); ok {
		m.atime = t
	}
	if t, ok := in.GetMTime(); ok {
		m.mtime = t
	}
	m.ctime = now
}

// fill writes all attributes of an inode, whose content is size bytes and was changed
// at modTime. (go-fuse completes most answers by itself, but not that to SETATTR.)
func (m *meta) fill(out *fuse.Attr, inode *fs.Inode, size int64, modTime time.Time, nlink uint32) {
	mtime := modTime
	if !m.mtime.IsZero() {
		mtime = m.mtime
	}
	atime, ctime := mtime, mtime
	if !m.atime.IsZero() {
		atime = m.atime
	}
	if m.ctime.After(modTime) {
		ctime = m.ctime
	} else if modTime.After(mtime) {
		ctime = modTime
	}
	out.SetTimes(&atime, &mtime, &ctime)
	out.Ino = inode.StableAttr().Ino
	out.Mode = inode.Mode() | m.mode
	out.Uid, out.Gid = m.uid, m.gid
	out.Size = uint64(size)
	out.Blksize = 4096
	out.Blocks = (out.Size + 511) / 512
	out.Nlink = nlink
}
