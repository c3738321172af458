//go:build linux || darwin

package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
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
	return file{os.NewFile(uintptr(fd), name)}, nil
}

// dir is a plain descriptor: an os.File needs a finalizer, and two more system calls to open it.
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

// with calls fn with the descriptor. It retries after EINTR.
func (f file) with(fn func(fd int) error) (err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	closed := raw.Control(func(fd uintptr) {
		for err = fn(int(fd)); errors.Is(err, unix.EINTR); err = fn(int(fd)) {
		}
	})
	if closed != nil {
		return fs.ErrClosed
	}
	return err
}

func (f file) Info() (info Info, err error) {
	err = f.with(func(fd int) (err error) {
		info, err = fstat(fd)
		return err
	})
	return info, err
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

// unsupported translates the errors of disks and kernels that do not support a flag of renameat2 or renameatx_np.
func unsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
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

func (d *dir) Sync() error {
	if err := unix.Fsync(d.fd()); !errors.Is(err, unix.EINVAL) {
		return err
	}
	return nil
}

func MaxFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return int(limit.Cur)
}
