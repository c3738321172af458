package crash

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// faultyDisk is a disk that can be told to fail: a folder shown through a file
// system of this process, whose operations return errors while they are asked to.
type faultyDisk struct {
	dir     string // the disk
	backing string // what it shows

	mu     sync.Mutex // protects the following
	faults faults
	late   *lateFault
}

// lateFault is a fault of one operation, which takes some time before.
type lateFault struct {
	op    string
	errno syscall.Errno
	after time.Duration
}

// faults are the operations that fail, with their errors. A file can fail to
// "create", "write", "fsync" or "rename", a folder to "fsyncdir".
type faults map[string]syscall.Errno

// newFaultyDisk mounts one, which has no faults yet, until the test ends.
func newFaultyDisk(t *testing.T, s *harness.Sandbox, name string) *faultyDisk {
	t.Helper()
	harness.RequireFUSE(t)
	d := &faultyDisk{dir: s.Mkdir(t, name), backing: s.Mkdir(t, name+"-backing")}
	root := &faultyNode{&fs.LoopbackNode{RootData: &fs.LoopbackRoot{Path: d.backing}}, d}
	root.RootData.RootNode = root
	var nothing time.Duration
	server, err := fs.Mount(d.dir, root, &fs.Options{
		EntryTimeout: &nothing, AttrTimeout: &nothing, NegativeTimeout: &nothing,
		MountOptions: fuse.MountOptions{FsName: "faulty", Name: "faulty", DirectMount: true},
	})
	if err != nil {
		need.Missing(t, "no FUSE: %v", err)
	}
	t.Cleanup(func() { // what the mount has started may end a moment after it
		harness.Eventually(t, harness.StartTimeout, server.Unmount)
	})
	return d
}

// fail has operations fail from now on; with nil, none does.
func (d *faultyDisk) fail(f faults) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = f
}

// failLate has the next operation of a kind take some time, and then fail.
func (d *faultyDisk) failLate(op string, errno syscall.Errno, after time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late = &lateFault{op, errno, after}
}

func (d *faultyDisk) fault(op string) syscall.Errno {
	d.mu.Lock()
	errno, late := d.faults[op], d.late
	if late == nil || late.op != op {
		d.mu.Unlock()
		return errno
	}
	d.late = nil
	d.mu.Unlock()
	time.Sleep(late.after)
	return late.errno
}

// faultyNode is a file or a folder of the disk.
type faultyNode struct {
	*fs.LoopbackNode
	disk *faultyDisk
}

var _ fs.NodeWrapChilder = (*faultyNode)(nil)

func (n *faultyNode) WrapChild(_ context.Context, child fs.InodeEmbedder) fs.InodeEmbedder {
	return &faultyNode{child.(*fs.LoopbackNode), n.disk}
}

func (n *faultyNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if errno := n.disk.fault("create"); errno != 0 {
		return nil, nil, 0, errno
	}
	inode, h, fuseFlags, errno := n.LoopbackNode.Create(ctx, name, flags, mode, out)
	return inode, wrapFile(h), fuseFlags, errno
}

func (n *faultyNode) Open(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, fuseFlags, errno := n.LoopbackNode.Open(ctx, flags)
	return wrapFile(h), fuseFlags, errno
}

// faultyFile is an open file of the disk, whose reads and writes the kernel does
// not make by itself.
type faultyFile struct{ *fs.LoopbackFile }

func (faultyFile) PassthroughFd() (int, bool) { return 0, false }

func wrapFile(h fs.FileHandle) fs.FileHandle {
	if f, ok := h.(*fs.LoopbackFile); ok {
		return faultyFile{f}
	}
	return h // there is none: an error
}

// Write writes half of data before it fails, as a disk does that becomes full.
func (n *faultyNode) Write(ctx context.Context, f fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	errno := n.disk.fault("write")
	if errno != 0 && len(data) < 2 {
		return 0, errno
	}
	if errno != 0 {
		data = data[:len(data)/2]
	}
	return f.(fs.FileWriter).Write(ctx, data, off)
}

func (n *faultyNode) Fsync(ctx context.Context, f fs.FileHandle, flags uint32) syscall.Errno {
	if errno := n.disk.fault("fsync"); errno != 0 {
		return errno
	}
	return f.(fs.FileFsyncer).Fsync(ctx, flags)
}

func (n *faultyNode) Rename(ctx context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if errno := n.disk.fault("rename"); errno != 0 {
		return errno
	}
	return n.LoopbackNode.Rename(ctx, name, newParent, newName, flags)
}

func (n *faultyNode) OpendirHandle(ctx context.Context, flags uint32) (fs.FileHandle, uint32, syscall.Errno) {
	h, out, errno := n.LoopbackNode.OpendirHandle(ctx, flags)
	if errno != 0 {
		return nil, 0, errno
	}
	return &faultyDir{h.(dirHandle), n.disk}, out, 0
}

// dirHandle is what an open folder can do.
type dirHandle interface {
	fs.FileReaddirenter
	fs.FileSeekdirer
	fs.FileReleasedirer
	fs.FileFsyncdirer
}

// faultyDir is an open folder of the disk.
type faultyDir struct {
	dirHandle
	disk *faultyDisk
}

func (h *faultyDir) Fsyncdir(ctx context.Context, flags uint32) syscall.Errno {
	if errno := h.disk.fault("fsyncdir"); errno != 0 {
		return errno
	}
	return h.dirHandle.Fsyncdir(ctx, flags)
}
