//go:build !windows

package fusefs

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// The ENOSYS of the methods Open, OpenDir and Flush below makes the kernel stop sending these requests. From then on the
// kernel opens, reads from its cache, and closes without a request. Its requests for pages and listings have no handle,
// so these types open a handle for each request.

// folders serves folders without handles, if the kernel can do without them. A listing belongs to its folder, not to a
// handle, so relayfs needs none.
type folders struct {
	fuse.RawFileSystem
	server *fuse.Server
}

func (s *folders) Init(server *fuse.Server) {
	s.server = server
	s.RawFileSystem.Init(server)
}

func (s *folders) OpenDir(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if s.server.KernelSettings().Flags&noOpendir != 0 {
		return fuse.ENOSYS
	}
	return s.RawFileSystem.OpenDir(cancel, in, out)
}

func (s *folders) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.list(cancel, in, out, s.RawFileSystem.ReadDir)
}

func (s *folders) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return s.list(cancel, in, out, s.RawFileSystem.ReadDirPlus)
}

func (s *folders) list(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList, read func(<-chan struct{}, *fuse.ReadIn, *fuse.DirEntryList) fuse.Status) fuse.Status {
	var opened fuse.OpenOut
	if status := s.RawFileSystem.OpenDir(cancel, &fuse.OpenIn{InHeader: in.InHeader}, &opened); !status.Ok() {
		return status
	}
	defer s.RawFileSystem.ReleaseDir(&fuse.ReleaseIn{InHeader: in.InHeader, Fh: opened.Fh})
	listing := *in
	listing.Fh = opened.Fh
	return read(cancel, &listing, out)
}

// handleless serves a mount without handles. A read-only mount does not need handles, because a handle only records the
// text that a program was shown, for the program's later writes.
//
// So relayfs cannot see which files are open: any inode may be open until the kernel forgets it. And no OPEN loads a
// note's text between the answer with its size and the READ. So recentFiles keeps the texts of the notes that were
// shown last.
type handleless struct{ fuse.RawFileSystem }

func (handleless) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.ENOSYS
}

func (handleless) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

func (s handleless) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
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
