//go:build linux || darwin

package fsat

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// OpenRoot opens a folder by its path.
func OpenRoot(path string) (*os.File, error) {
	return openAt(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY, 0)
}

// Open opens a file with the flags of os.OpenFile. A pipe is not waited for.
func Open(dir *os.File, name string, flag int, perm fs.FileMode) (*os.File, error) {
	return openAt(int(dir.Fd()), name, flag|unix.O_NOFOLLOW, uint32(perm.Perm()))
}

// OpenDir opens a folder; syscall.ENOTDIR if the name is something else.
func OpenDir(dir *os.File, name string) (*os.File, error) {
	return openAt(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
}

func openAt(dirfd int, name string, flag int, perm uint32) (*os.File, error) {
	fd, err := openFD(dirfd, name, flag, perm)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
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

// ReadFile is Open, Fstat, a read of as many bytes as that said, and Fstat again,
// without an os.File, which costs about as much as all of them. What is no regular
// file is described and not read.
func ReadFile(dir *os.File, name string) (data []byte, before, after Info, err error) {
	fd, err := openFD(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW, 0)
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

// Stat describes name itself, not what a symlink of that name points to.
func Stat(dir *os.File, name string) (Info, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return infoOf(&st), err
}

// Fstat describes an open file.
func Fstat(f *os.File) (Info, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
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

// Mkdir makes a folder.
func Mkdir(dir *os.File, name string) error { return unix.Mkdirat(int(dir.Fd()), name, 0o777) }

// Rmdir removes an empty folder.
func Rmdir(dir *os.File, name string) error {
	return unix.Unlinkat(int(dir.Fd()), name, unix.AT_REMOVEDIR)
}

// Remove removes a file.
func Remove(dir *os.File, name string) error { return unix.Unlinkat(int(dir.Fd()), name, 0) }

// Rename renames a file or a folder, and replaces what has the name.
func Rename(from *os.File, name string, to *os.File, newName string) error {
	return unix.Renameat(int(from.Fd()), name, int(to.Fd()), newName)
}

// Link gives a file a second name; errors.ErrUnsupported or EPERM where files
// have only one.
func Link(from *os.File, name string, to *os.File, newName string) error {
	return unix.Linkat(int(from.Fd()), name, int(to.Fd()), newName, 0)
}

// Readlink is what a symlink says.
func Readlink(dir *os.File, name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(dir.Fd()), name, buf)
	return string(buf[:max(n, 0)]), err
}

// Symlink makes a symlink that says target.
func Symlink(target string, dir *os.File, name string) error {
	return unix.Symlinkat(target, int(dir.Fd()), name)
}

// Chown gives an open file an owner.
func Chown(f *os.File, uid, gid int) error { return unix.Fchown(int(f.Fd()), uid, gid) }

// SetTimes sets the times of access and of modification.
func SetTimes(dir *os.File, name string, t time.Time) error {
	when := unix.NsecToTimespec(t.UnixNano())
	return unix.UtimesNanoAt(int(dir.Fd()), name, []unix.Timespec{when, when}, unix.AT_SYMLINK_NOFOLLOW)
}

// SyncDir makes the names in a folder durable; EINVAL where a disk cannot.
func SyncDir(dir *os.File) error { return unix.Fsync(int(dir.Fd())) }

// MaxFiles is how many files this process may have open.
func MaxFiles() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil || limit.Cur > 1<<20 {
		return 1 << 20
	}
	return int(limit.Cur)
}
