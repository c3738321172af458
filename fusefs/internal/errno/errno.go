// Package errno turns errors into errnos by one table. Where an errno cannot say why, the
// log does.
package errno

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
)

// table is where errors become errnos. The first row that matches counts. logged says that
// the errno alone would leave the user guessing, so that the log has the reason too.
var table = []struct {
	err    error
	errno  syscall.Errno
	logged bool
}{
	{model.ErrBadName, syscall.EINVAL, true},
	{model.ErrNameTooLong, syscall.ENAMETOOLONG, false},
	{model.ErrReadOnly, syscall.EROFS, false},
	{model.ErrInvalidUTF8, syscall.EILSEQ, false},
	{model.ErrTooLarge, syscall.EFBIG, false},
	{model.ErrNoSpace, syscall.ENOSPC, false},
	{model.ErrOffline, syscall.EIO, true},
	{model.ErrRefused, syscall.EINVAL, true},
	{model.ErrNeedsReview, syscall.EPERM, true},
	{model.ErrTooMany, syscall.EPERM, true},
	{model.ErrFixedMode, syscall.EPERM, true},
	{model.ErrInTheWay, syscall.EBUSY, true},
	{model.ErrNotEmpty, syscall.ENOTEMPTY, false},
	{model.ErrIsDir, syscall.EISDIR, false},
	{model.ErrNotDir, syscall.ENOTDIR, false},
	{model.ErrNotNote, syscall.EINVAL, true},
	{model.ErrClosed, syscall.EIO, false},
	{fs.ErrNotExist, syscall.ENOENT, false},
	{fs.ErrExist, syscall.EEXIST, false},
	{fs.ErrPermission, syscall.EACCES, false},
	{errors.ErrUnsupported, syscall.EXDEV, false},
	{context.Canceled, syscall.EINTR, false},
	{context.DeadlineExceeded, syscall.ETIMEDOUT, true},
}

// toErrno returns the errno of err, 0 for nil. It is known if a row of the table
// or an errno in err's chain says it.
func toErrno(err error) (errno syscall.Errno, known, logged bool) {
	if err == nil {
		return 0, true, false
	}
	for _, row := range table {
		if errors.Is(err, row.err) {
			return row.errno, true, row.logged
		}
	}
	if errors.As(err, &errno) && errno != 0 {
		return errno, true, false
	}
	return syscall.EIO, false, true
}

// Reporter turns errors into errnos, and logs what those do not tell.
type Reporter struct{ Log *slog.Logger }

// Of is the errno of an operation's error, 0 for nil.
func (r Reporter) Of(op string, p model.Path, err error) syscall.Errno {
	return r.report(op, p, err, false)
}

// OfSave is Of for what is reported at close, where few programs look: the log always
// has the sentence.
func (r Reporter) OfSave(op string, p model.Path, err error) syscall.Errno {
	return r.report(op, p, err, true)
}

func (r Reporter) report(op string, p model.Path, err error, always bool) syscall.Errno {
	errno, known, logged := toErrno(err)
	if err == nil || !logged && !always {
		return errno
	}
	level := slog.LevelWarn
	if !known {
		level = slog.LevelError
	}
	r.Log.Log(context.Background(), level, "operation refused",
		"op", op, model.LogPath, string(p), "errno", errno.Error(), model.LogErr, err)
	return errno
}
