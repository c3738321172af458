//go:build linux || darwin

package disk

import (
	"errors"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

func (OS) OpenRoot(path string) (Dir, error) {
	return openDir(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY)
}

func (d *dir) OpenDir(name string) (Dir, error) {
	return openDir(d.fd(), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
}

func openDir(dirfd int, name string, flag int) (Dir, error) {
	fd, err := openFD(dirfd, name, flag, 0)
	if err != nil {
		return nil, err
	}
	d := new(dir)
	d.n.Store(int64(fd))
	return d, nil
}

func (d *dir) Open(name string, flag int, perm fs.FileMode) (File, error) {
	fd, err := openFD(d.fd(), name, flag|unix.O_NOFOLLOW, uint32(perm.Perm()))
	if err != nil {
		return nil, err
	}
	return &file{fd: fd}, nil
}

// dir and file are plain descriptors: an os.File needs a finalizer, and two more system calls to open it.

type dir struct {
	n atomic.Int64 // the descriptor, -1 once closed
}

func (d *dir) fd() int { return int(d.n.Load()) }

func (d *dir) Close() error {
	if fd := int(d.n.Swap(-1)); fd >= 0 {
		return unix.Close(fd)
	}
	return fs.ErrClosed
}

func (d *dir) Info() (Info, error) { return fstat(d.fd()) }

func (d *dir) Names(n int) (names []string, err error) {
	if _, err := unix.Seek(d.fd(), 0, io.SeekStart); err != nil {
		return nil, err
	}
	buf := make([]byte, 8<<10)
	for n < 0 || len(names) < n {
		size, err := unix.ReadDirent(d.fd(), buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || size <= 0 {
			return names, err
		}
		_, _, names = unix.ParseDirent(buf[:size], n-len(names), names)
	}
	return names, nil
}

// file is an open file. The lock ensures that no call uses a descriptor that was closed and reused.
type file struct {
	mu sync.RWMutex // held for writing by Close
	fd int          // -1 once closed
}

// with calls fn with the descriptor. It retries after EINTR.
func (f *file) with(fn func(fd int) error) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.fd < 0 {
		return fs.ErrClosed
	}
	for {
		if err := fn(f.fd); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fd < 0 {
		return fs.ErrClosed
	}
	fd := f.fd
	f.fd = -1
	return unix.Close(fd)
}

// maxIO is the maximum transfer of one system call: macOS limits it to less than 2 GiB.
const maxIO = 1 << 30

// ioFull calls op, which reads or writes at an offset, until p is complete or the file ends.
func ioFull(fd int, p []byte, off int64, op func(fd int, p []byte, off int64) (int, error)) (done int, err error) {
	for done < len(p) {
		n, err := op(fd, p[done:min(len(p), done+maxIO)], off+int64(done))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return done, err
		case n == 0:
			return done, io.EOF
		default:
			done += n
		}
	}
	return done, nil
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.with(func(fd int) (err error) {
		n, err = ioFull(fd, p, off, unix.Pread)
		return err
	})
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.with(func(fd int) (err error) {
		n, err = ioFull(fd, p, off, unix.Pwrite)
		return err
	})
	return n, err
}

func (f *file) Info() (info Info, err error) {
	err = f.with(func(fd int) (err error) {
		info, err = fstat(fd)
		return err
	})
	return info, err
}

func (f *file) Truncate(size int64) error {
	return f.with(func(fd int) error { return unix.Ftruncate(fd, size) })
}

func (f *file) Chmod(mode fs.FileMode) error {
	bits := uint32(mode.Perm())
	for _, b := range special {
		if mode&b.set != 0 {
			bits |= b.bit
		}
	}
	return f.with(func(fd int) error { return unix.Fchmod(fd, bits) })
}

func (f *file) Chown(uid, gid int) error {
	return f.with(func(fd int) error { return unix.Fchown(fd, uid, gid) })
}

func openFD(dirfd int, name string, flag int, perm uint32) (fd int, err error) {
	if flag&(unix.O_DIRECTORY|unix.O_EXCL) == 0 {
		flag |= unix.O_NONBLOCK // the file may be a pipe
	}
	for {
		fd, err := unix.Openat(dirfd, name, flag|unix.O_CLOEXEC, perm)
		if err == nil || !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (d *dir) ReadFile(name string) (data []byte, before, after Info, err error) {
	fd, err := openFD(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer unix.Close(fd)
	if before, err = fstat(fd); err != nil {
		return nil, before, after, err
	}
	if before.Mode.Type() != 0 {
		return nil, before, before, nil
	}
	data = make([]byte, before.Size)
	n, err := ioFull(fd, data, 0, unix.Pread)
	if err != nil && err != io.EOF {
		return nil, before, after, err
	}
	after, err = fstat(fd)
	return data[:n], before, after, err
}

var special = [...]struct {
	bit uint32
	set fs.FileMode
}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}}

func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for _, b := range special {
		if mode&b.bit != 0 {
			m |= b.set
		}
	}
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return m
	case unix.S_IFDIR:
		return m | fs.ModeDir
	case unix.S_IFLNK:
		return m | fs.ModeSymlink
	}
	return m | fs.ModeIrregular
}

func (d *dir) Mkdir(name string) error { return unix.Mkdirat(d.fd(), name, 0o777) }

func (d *dir) Rmdir(name string) error { return unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR) }

func (d *dir) Remove(name string) error { return unix.Unlinkat(d.fd(), name, 0) }

func (d *dir) Rename(name string, to Dir, newName string) error {
	return unix.Renameat(d.fd(), name, to.(*dir).fd(), newName)
}

func (d *dir) Link(name string, to Dir, newName string) error {
	return unix.Linkat(d.fd(), name, to.(*dir).fd(), newName, 0)
}

func (d *dir) Readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd(), name, buf)
	return string(buf[:max(n, 0)]), err
}

func (d *dir) Symlink(target, name string) error { return unix.Symlinkat(target, d.fd(), name) }

func (d *dir) SetTimes(name string, t time.Time) error {
	when := unix.NsecToTimespec(t.UnixNano())
	return unix.UtimesNanoAt(d.fd(), name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
}

func (d *dir) Sync() error { return unix.Fsync(d.fd()) }

func MaxFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return int(limit.Cur)
}
