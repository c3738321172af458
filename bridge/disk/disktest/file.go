package disktest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
)

type file struct {
	d      *Disk
	n      *inode
	user   user
	reads  bool
	writes bool
	closed bool
	leased bool
}

// open returns a descriptor. The caller holds mu.
func (d *Disk) open(n *inode, u user, flag int) *file {
	writes := flag&(os.O_WRONLY|os.O_RDWR) != 0
	if writes {
		n.writers++
	}
	return &file{d: d, n: n, user: u, reads: flag&os.O_WRONLY == 0, writes: writes}
}

func (f *file) lock() (unlock func(), err error) {
	f.d.mu.Lock()
	if f.closed {
		err = os.ErrClosed
	}
	return f.d.mu.Unlock, err
}

func (f *file) Close() error {
	unlock, err := f.lock()
	if err != nil {
		unlock()
		return err
	}
	f.closed = true
	if f.writes {
		f.n.writers--
	}
	unlock()
	f.release()
	return nil
}

func (f *file) Info() (disk.Info, error) {
	unlock, err := f.lock()
	defer unlock()
	if err != nil {
		return disk.Info{}, err
	}
	return f.n.info(), nil
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	unlock, err := f.lock()
	defer unlock()
	switch {
	case err != nil:
		return 0, err
	case off < 0:
		return 0, syscall.EINVAL
	case len(b) == 0:
		return 0, nil
	case !f.reads:
		return 0, syscall.EBADF
	case f.n.isDir():
		return 0, syscall.EISDIR
	}
	n := copy(b, f.n.data[min(off, int64(len(f.n.data))):])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	switch {
	case off < 0:
		return 0, syscall.EINVAL
	case len(b) == 0:
		return 0, nil
	case !f.writes:
		return 0, f.open(syscall.EBADF)
	}
	if err := f.change("write", func() { f.d.edit(f.n, edit{at: off, data: append([]byte{}, b...)}) }); err != nil {
		return 0, err
	}
	return len(b), nil
}

// open returns err, or os.ErrClosed if f is closed.
func (f *file) open(err error) error {
	unlock, closed := f.lock()
	defer unlock()
	if closed != nil {
		return closed
	}
	return err
}

func (f *file) change(op string, fn func()) error {
	if err := f.open(nil); err != nil {
		return err
	}
	if err := f.d.call(f.user, op, f.n, ""); err != nil {
		return err
	}
	unlock, err := f.lock()
	defer unlock()
	if err == nil {
		fn()
	}
	return err
}

func (f *file) Truncate(size int64) error {
	if !f.writes || size < 0 {
		return f.open(syscall.EINVAL)
	}
	return f.change("truncate", func() { f.d.edit(f.n, edit{at: size}) })
}

func (f *file) Chmod(mode fs.FileMode) error {
	const bits = fs.ModePerm | fs.ModeSticky
	return f.change("chmod", func() {
		f.n.attr.mode = f.n.attr.mode&^bits | mode&bits
		f.d.describe(f.n)
	})
}

func (f *file) Chown(uid, gid int) error {
	return f.change("chown", func() {
		if uid >= 0 {
			f.n.attr.uid = uid
		}
		if gid >= 0 {
			f.n.attr.gid = gid
		}
		f.d.describe(f.n)
	})
}

func (f *file) CopyAttributes(disk.File) {}

func (f *file) Sync() error { return f.sync("sync", f.n.sync) }

func (f *file) Datasync() error { return f.sync("datasync", f.n.datasync) }

func (f *file) sync(op string, fn func()) error {
	err := f.change(op, fn)
	if err != nil && !errors.Is(err, os.ErrClosed) {
		f.d.mu.Lock()
		f.n.stale = len(f.n.edits) > 0
		f.d.mu.Unlock()
	}
	return err
}

// StartSync does nothing: the write that it starts might not complete before a power cut.
func (f *file) StartSync() {}

func (f *file) Lease() (release func(), err error) {
	unlock, err := f.lock()
	defer unlock()
	switch {
	case err != nil:
		return nil, err
	case f.n.vol.NoLeases, f.n.isDir():
		return nil, errors.ErrUnsupported
	case f.n.writers > 0:
		return nil, disk.ErrWriters
	}
	if !f.leased {
		f.leased = true
		f.n.leases++
	}
	return f.release, nil
}

func (f *file) release() {
	f.d.mu.Lock()
	var waiting []func()
	if f.leased {
		f.leased = false
		if f.n.leases--; f.n.leases == 0 {
			waiting, f.n.waiting = f.n.waiting, nil
		}
	}
	f.d.mu.Unlock()
	for _, fn := range waiting {
		fn()
	}
}
