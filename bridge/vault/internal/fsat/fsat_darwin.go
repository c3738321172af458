package fsat

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// ReadBelow is for Linux.
func ReadBelow(root, rel string) (data []byte, rootInfo, before, after Info, err error) {
	return nil, rootInfo, before, after, errors.ErrUnsupported
}

// RenameNew renames to a name that must be free: fs.ErrExist.
func RenameNew(from *os.File, name string, to *os.File, newName string) error {
	return unsupported(unix.RenameatxNp(int(from.Fd()), name, int(to.Fd()), newName, unix.RENAME_EXCL))
}

// Exchange gives each of two names what the other one had, in one step.
func Exchange(dir *os.File, name string, otherDir *os.File, other string) error {
	return unsupported(unix.RenameatxNp(int(dir.Fd()), name, int(otherDir.Fd()), other, unix.RENAME_SWAP))
}

// unsupported translates how disks say that they do not know a flag of
// renameatx_np.
func unsupported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		return errors.ErrUnsupported
	}
	return err
}

// OrdersNames says that it is not known whether changes of names come to the disk in their order.
func OrdersNames(*os.File) bool { return false }

// StartSync does nothing: Sync does all.
func StartSync(*os.File) {}

// DiskReadOnly says whether the disk that a path is on is mounted read-only.
func DiskReadOnly(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.MNT_RDONLY != 0
}

// Lease is unknown to the system.
func Lease(*os.File) (release func(), err error) { return nil, errors.ErrUnsupported }

// CopyAttributes is for Linux.
func CopyAttributes(from, to *os.File) {}
