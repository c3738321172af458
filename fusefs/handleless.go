//go:build !windows

package fusefs

import (
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// handleless serves a mount without handles. A read-only mount does not need handles, because a handle only records the
// text that a program was shown, for the program's later writes. The answers to the first OPEN, OPENDIR and FLUSH tell
// the kernel that it need not send more of them. From then on the kernel opens, reads from its cache, and closes
// without a request. Its requests for pages and listings have no handle, so handleless opens a handle for each request.
//
// So relayfs cannot see which files are open: any inode may be open until the kernel forgets it. And no OPEN loads a
// note's text between the answer with its size and the READ. So recentFiles keeps the texts of the notes that were
// shown last.
type handleless struct {
	fuse.RawFileSystem

	mu      sync.Mutex // guards the fields below
	streams map[streamKey]uint64
}

// streamKey identifies a listing that was sent up to an offset. Its handle is kept for the next READDIR, which would
// otherwise list a large folder again.
type streamKey struct{ node, off uint64 }

const maxStreams = 64

func withoutHandles(inner fuse.RawFileSystem) fuse.RawFileSystem {
	return &handleless{RawFileSystem: inner, streams: make(map[streamKey]uint64)}
}

// The ENOSYS of Open, OpenDir and Flush makes the kernel stop sending these requests.
func (*handleless) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.ENOSYS
}

func (*handleless) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.ENOSYS
}

func (*handleless) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

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

func (s *handleless) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.list(cancel, in, out, s.RawFileSystem.ReadDir)
}

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

// stream removes the stored listing that continues at in.Offset and returns its handle. If there is none, it opens the
// folder.
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

// keep stores a listing and reports whether it did. It releases an older listing at the same offset.
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
