package fsat

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// ReadBelow is ReadFile of a file below the folder root, in as few system calls as
// there can be: the way there is one. It also describes root. What leads through a
// symlink is an error.
func ReadBelow(root, rel string) (data []byte, rootInfo, before, after Info, err error) {
	dir, err := openFD(unix.AT_FDCWD, root, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, rootInfo, before, after, err
	}
	defer unix.Close(dir)
	var st unix.Stat_t
	if err := unix.Fstat(dir, &st); err != nil {
		return nil, rootInfo, before, after, err
	}
	fd, err := unix.Openat2(dir, rel, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return nil, rootInfo, before, after, err
	}
	defer unix.Close(fd)
	data, before, after, err = readFile(fd)
	return data, infoOf(&st), before, after, err
}

// RenameNew renames to a name that must be free: fs.ErrExist.
func RenameNew(from *os.File, name string, to *os.File, newName string) error {
	return unsupported(unix.Renameat2(int(from.Fd()), name, int(to.Fd()), newName, unix.RENAME_NOREPLACE))
}

// Exchange gives each of two names what the other one had, in one step.
func Exchange(dir *os.File, name string, otherDir *os.File, other string) error {
	return unsupported(unix.Renameat2(int(dir.Fd()), name, int(otherDir.Fd()), other, unix.RENAME_EXCHANGE))
}

// unsupported translates how disks say that they do not know a flag of renameat2.
func unsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}

// OrdersNames says whether the disk that a folder is on brings changes of names to its
// platters in the order in which they were made, as the journals of ext4, btrfs and ZFS do.
// What is in memory alone has no order to keep.
func OrdersNames(dir *os.File) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(int(dir.Fd()), &st) != nil {
		return false
	}
	const zfs = 0x2fc12fc1
	return slices.Contains([]int64{unix.EXT4_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, zfs}, int64(st.Type))
}

// StartSync has a file's content on its way to the disk, for a Sync that comes later.
func StartSync(f *os.File) {
	_ = unix.SyncFileRange(int(f.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // if it cannot, Sync does all
}

// DiskReadOnly says whether the disk that a path is on is mounted read-only.
func DiskReadOnly(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.ST_RDONLY != 0
}

// Lease makes every open(2) for writing of f, which is itself open for reading,
// wait until release is called or /proc/sys/fs/lease-break-time is over, 45 s. An
// open that does not block (O_NONBLOCK) gets EAGAIN. ErrWriters if a program has f
// open for writing already, or mapped; errors.ErrUnsupported if there is no lease
// to be had: on another user's file, and on some disks. See "Leases" in fcntl(2).
func Lease(f *os.File) (release func(), err error) {
	fd := f.Fd()
	_, err = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return nil, ErrWriters
	case err != nil:
		return nil, errors.ErrUnsupported
	}
	return func() { _, _ = unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK) }, nil
}

// aclAttribute holds the access control list of a file, which its mode is a part of;
// labelAttribute what SELinux allows with it, which a file gets from its folder.
const (
	aclAttribute   = "system.posix_acl_access"
	labelAttribute = "security.selinux"
)

// CopyAttributes gives a file the extended attributes that are people's on another
// one, its label, and its access control list or none. What the disk does not keep,
// or the user may not set, is left out. The file's mode is to be set after that.
func CopyAttributes(from, to *os.File) {
	theirs := attributes(from)
	for _, name := range theirs {
		if name != aclAttribute && name != labelAttribute && !strings.HasPrefix(name, "user.") {
			continue
		}
		value, err := attribute(from, name)
		if had, _ := attribute(to, name); err == nil && (had == nil || !bytes.Equal(had, value)) {
			_ = unix.Fsetxattr(int(to.Fd()), name, value, 0)
		}
	}
	if !slices.Contains(theirs, aclAttribute) && slices.Contains(attributes(to), aclAttribute) {
		_ = unix.Fremovexattr(int(to.Fd()), aclAttribute) // its folder has given it one
	}
}

// attributes are the names of a file's extended attributes, as far as they are known.
func attributes(f *os.File) []string {
	buf := make([]byte, 1024)
	n, err := unix.Flistxattr(int(f.Fd()), buf)
	if errors.Is(err, unix.ERANGE) {
		buf = make([]byte, 64<<10) // the most that Linux allows
		n, err = unix.Flistxattr(int(f.Fd()), buf)
	}
	if err != nil || n == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(buf[:n]), "\x00"), "\x00")
}

// attribute is the value of an extended attribute.
func attribute(f *os.File, name string) ([]byte, error) {
	value := make([]byte, 1024)
	n, err := unix.Fgetxattr(int(f.Fd()), name, value)
	if errors.Is(err, unix.ERANGE) {
		value = make([]byte, 64<<10)
		n, err = unix.Fgetxattr(int(f.Fd()), name, value)
	}
	if err != nil {
		return nil, err
	}
	return value[:n], nil
}
