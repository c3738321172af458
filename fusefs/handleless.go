//go:build !windows

package fusefs

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// handleless serves a mount without handles. A read-only mount does not need handles, because a handle only records the
// text that a program was shown, for the program's later writes. The answers to the first OPEN and FLUSH tell the
// kernel that it need not send more of them. From then on the kernel opens, reads from its cache, and closes without a
// request. Its requests for pages have no handle, so handleless opens a handle for each request.
//
// So relayfs cannot see which files are open: any inode may be open until the kernel forgets it. And no OPEN loads a
// note's text between the answer with its size and the READ. So recentFiles keeps the texts of the notes that were
// shown last.
type handleless struct{ fuse.RawFileSystem }

// The ENOSYS of Open and Flush makes the kernel stop sending these requests.
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
