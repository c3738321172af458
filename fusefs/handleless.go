//go:build !windows

package fusefs

import (
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// handleless serves a mount without handles. A read-only mount does not need
// them: they record what a program was shown, for when it writes. The kernel learns that
// from the first OPEN, OPENDIR and FLUSH. From then on it opens, reads what it has cached,
// and closes without asking. What it does ask for, pages and listings, comes without a
// handle, and gets one of ours for as long as the answer takes.
//
// Nobody tells any more who has a file open: any inode that the kernel knows may be, until
// the kernel forgets it. And as nobody opens, nothing wakes a note between the answer with
// its size and the READ. So the notes that were shown last stay awake (recentFiles).
type handleless struct {
	fuse.RawFileSystem

	mu      sync.Mutex // protects the following
	streams map[streamKey]uint64
}

// streamKey is a listing that was sent up to an offset. Its handle is kept
// for the next READDIR, which would otherwise list a large folder anew.
type streamKey struct{ node, off uint64 }

// maxStreams bounds the listings that nobody has read to the end.
const maxStreams = 64

// withoutHandles returns inner without handles.
func withoutHandles(inner fuse.RawFileSystem) fuse.RawFileSystem {
	return &handleless{RawFileSystem: inner, streams: make(map[streamKey]uint64)}
}

// Open, OpenDir and Flush answer that the kernel need not ask.
func (*handleless) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.ENOSYS
}

func (*handleless) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.ENOSYS
}

func (*handleless) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// Read opens, reads and closes.
func (s *handleless) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	var out fuse.OpenOut
	open := fuse.OpenIn{InHeader: in.InHeader, Flags: syscall.O_RDONLY}
	if status := s.RawFileSystem.Open(cancel, &open, &out); !status.Ok() {
		return nil, status
	}
	read := *in
	read.Fh = out.Fh
	defer s.RawFileSystem.Release(cancel, &fuse.ReleaseIn{InHeader: in.InHeader, Fh: out.Fh})
	return s.RawFileSystem.Read(cancel, &read, buf)
}

// ReadDir lists from an offset.
func (s *handleless) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.list(cancel, in, out, s.RawFileSystem.ReadDir)
}

// ReadDirPlus lists from an offset, with attributes.
func (s *handleless) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.list(cancel, in, out, s.RawFileSystem.ReadDirPlus)
}

type readDirFunc func(<-chan struct{}, *fuse.ReadIn, *fuse.DirEntryList) fuse.Status

func (s *handleless) list(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList, readDir readDirFunc) fuse.Status {
	fh, status := s.stream(cancel, in)
	if !status.Ok() {
		return status
	}
	read := *in
	read.Fh = fh
	status = readDir(cancel, &read, out)
	if !status.Ok() || out.Offset == in.Offset || !s.keep(streamKey{in.NodeId, out.Offset}, fh) {
		s.RawFileSystem.ReleaseDir(&fuse.ReleaseIn{InHeader: in.InHeader, Fh: fh})
	}
	return status
}

// stream takes out the listing that goes on at in.Offset, or begins one.
func (s *handleless) stream(cancel <-chan struct{}, in *fuse.ReadIn) (fh uint64, status fuse.Status) {
	key := streamKey{in.NodeId, in.Offset}
	s.mu.Lock()
	fh, ok := s.streams[key]
	delete(s.streams, key)
	s.mu.Unlock()
	if ok {
		return fh, fuse.OK
	}
	var out fuse.OpenOut
	status = s.RawFileSystem.OpenDir(cancel, &fuse.OpenIn{InHeader: in.InHeader}, &out)
	return out.Fh, status
}

// keep stores a listing, and says whether it did. It releases an older one at the same
// offset.
func (s *handleless) keep(key streamKey, fh uint64) bool {
	s.mu.Lock()
	older, ok := s.streams[key]
	if !ok && len(s.streams) >= maxStreams {
		s.mu.Unlock()
		return false
	}
	s.streams[key] = fh
	s.mu.Unlock()
	if ok {
		s.RawFileSystem.ReleaseDir(&fuse.ReleaseIn{InHeader: fuse.InHeader{NodeId: key.node}, Fh: older})
	}
	return true
}
