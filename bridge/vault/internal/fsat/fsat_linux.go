package fsat

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// RenameNew renames to a name that must be free: fs.ErrExist.
func RenameNew(from *os.File, name string, to *os.File, newName string) error {
	return unsupported(unix.Renameat2(int(from.Fd()), name, int(to.Fd()), newName, unix.RENAME_NOREPLACE))
}

// Exchange gives each of two names in a folder what the other one had, in one step.
func Exchange(dir *os.File, name, other string) error {
	fd := int(dir.Fd())
	return unsupported(unix.Renameat2(fd, name, fd, other, unix.RENAME_EXCHANGE))
}

// unsupported translates how disks say that they do not know a flag of renameat2.
func unsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}

// DiskReadOnly says whether the disk that a path is on is mounted read-only.
func DiskReadOnly(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.ST_RDONLY != 0
}

// NoWriters says that no program has a file open for writing; false if that is
// not known. The kernel grants a read lease on such files only (fcntl(2),
// "Leases"), but none on another user's file, nor on some disks.
func NoWriters(f *os.File) bool {
	fd := f.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}
