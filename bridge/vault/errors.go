package vault

import (
	"io/fs"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
)

// wrap adds the operation and the path to the sentinel of err. It drops the path in err, which may be that of a temp
// file.
func wrap(op, rel string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*fs.PathError); ok {
		err = inner.Err
	}
	return &fs.PathError{Op: op, Path: rel, Err: sentinel(err)}
}

var errDiskReadOnly error = &model.ReadOnlyError{Reason: "its disk is mounted read-only; mount it for writing"}

// sentinel translates errnos that do not match the sentinels of io/fs.
func sentinel(err error) error {
	errno, ok := err.(syscall.Errno)
	if !ok {
		return err
	}
	switch errno {
	case syscall.ENOSPC, syscall.EDQUOT:
		return model.ErrNoSpace
	case syscall.EROFS:
		return errDiskReadOnly
	case syscall.EISDIR:
		return model.ErrIsDir
	case syscall.ENOTDIR:
		return model.ErrNotDir
	case syscall.ENOTEMPTY:
		return model.ErrNotEmpty
	case syscall.ENAMETOOLONG:
		return model.ErrNameTooLong
	case syscall.ELOOP: // the name is a symlink, which is never followed
		return fs.ErrNotExist
	}
	return err
}
