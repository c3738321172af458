//go:build linux || darwin

package disk

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// OpenRoot opens a folder by its path.
func (OS) OpenRoot(path string) (Dir, error) {
	return openDir(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY)
}

func (d dir) OpenDir(name string) (Dir, error) {
	return openDir(d.fd(), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW)
}

func openDir(dirfd int, name string, flag int) (Dir, error) {
	fd, err := openFD(dirfd, name, flag, 0)
	if err != nil {
		return nil, err
	}
	return dir{os.NewFile(uintptr(fd), name)}, nil
}

func (d dir) Open(name string, flag int, perm fs.FileMode) (File, error) {
	fd, err := openFD(d.fd(), name, flag|unix.O_NOFOLLOW, uint32(perm.Perm()))
	if err != nil {
		return nil, err
	}
	return file{os.NewFile(uintptr(fd), name)}, nil
}

func openFD(dirfd int, name string, flag int, perm uint32) (fd int, err error) {
	if flag&(unix.O_DIRECTORY|unix.O_EXCL) == 0 {
		flag |= unix.O_NONBLOCK // it may be a pipe
	}
	for {
		fd, err := unix.Openat(dirfd, name, flag|unix.O_CLOEXEC, perm)
		if err == nil || !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func (d dir) fd() int { return int(d.f.Fd()) }

func (f file) fd() int { return int(f.Fd()) }

// ReadFile uses no os.File, which costs about as much as all the system calls.
func (d dir) ReadFile(name string) (data []byte, before, after Info, err error) {
	fd, err := openFD(d.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer unix.Close(fd)
	return readFile(fd)
}

func readFile(fd int) (data []byte, before, after Info, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, before, after, err
	}
	before = infoOf(&st)
	if before.Mode.Type() != 0 {
		return nil, before, before, nil
	}
	if data, err = readFull(fd, before.Size); err != nil {
		return nil, before, after, err
	}
	err = unix.Fstat(fd, &st)
	return data, before, infoOf(&st), err
}

// readFull reads size bytes, fewer if the file ends before.
func readFull(fd int, size int64) ([]byte, error) {
	data := make([]byte, size)
	for n := 0; n < len(data); {
		more, err := unix.Read(fd, data[n:])
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case more == 0:
			return data[:n], nil
		default:
			n += more
		}
	}
	return data, nil
}

func (d dir) Stat(name string) (Info, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return infoOf(&st), err
}

func (f file) Info() (Info, error) {
	var st unix.Stat_t
	err := unix.Fstat(f.fd(), &st)
	return infoOf(&st), err
}

func infoOf(st *unix.Stat_t) Info {
	return Info{
		Device: uint64(st.Dev), Inode: st.Ino, Mode: modeOf(uint32(st.Mode)), Size: st.Size,
		ModTime: st.Mtim.Nano(), ChgTime: st.Ctim.Nano(), Links: int(st.Nlink), UID: int(st.Uid), GID: int(st.Gid),
	}
}

func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	for _, b := range [...]struct {
		bit uint32
		set fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
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

func (d dir) Mkdir(name string) error { return unix.Mkdirat(d.fd(), name, 0o777) }

func (d dir) Rmdir(name string) error { return unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR) }

func (d dir) Remove(name string) error { return unix.Unlinkat(d.fd(), name, 0) }

func (d dir) Rename(name string, to Dir, newName string) error {
	return unix.Renameat(d.fd(), name, to.(dir).fd(), newName)
}

func (d dir) Link(name string, to Dir, newName string) error {
	return unix.Linkat(d.fd(), name, to.(dir).fd(), newName, 0)
}

func (d dir) Readlink(name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(d.fd(), name, buf)
	return string(buf[:max(n, 0)]), err
}

func (d dir) Symlink(target, name string) error { return unix.Symlinkat(target, d.fd(), name) }

func (d dir) SetTimes(name string, t time.Time) error {
	when := unix.NsecToTimespec(t.UnixNano())
	return unix.UtimesNanoAt(d.fd(), name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
}

// Sync is fsync(2) alone: on macOS os.File.Sync would empty the disk's cache, too.
func (d dir) Sync() error { return unix.Fsync(d.fd()) }

// MaxFiles is how many files this process may have open.
func MaxFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return int(limit.Cur)
}
