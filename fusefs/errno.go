//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
)

// errnoRow says which errno an error becomes, and whether the errno alone would
// leave the user guessing, so that the reason belongs in the log.
type errnoRow struct {
	err    error
	errno  syscall.Errno
	logged bool
}

// errnoTable is the one place where errors become errnos; the first row that
// matches counts.
func errnoTable() []errnoRow {
	return []errnoRow{
		{model.ErrControlName, syscall.EINVAL, true},
		{model.ErrBadName, syscall.EINVAL, false},
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
}

// toErrno returns the errno of err, 0 for nil. It is known if a row of the table
// or an errno in err's chain says it, and logged if the reason should be too.
func toErrno(err error) (errno syscall.Errno, known, logged bool) {
	if err == nil {
		return 0, true, false
	}
	for _, row := range errnoTable() {
		if errors.Is(err, row.err) {
			return row.errno, true, row.logged
		}
	}
	if errors.As(err, &errno) && errno != 0 {
		return errno, true, false
	}
	return syscall.EIO, false, true
}

// errno turns the error of an operation into its errno and logs what the errno
// does not tell.
func (t *tree) errno(op string, p model.Path, err error) syscall.Errno {
	errno, known, logged := toErrno(err)
	if !logged {
		return errno
	}
	level := slog.LevelWarn
	if !known {
		level = slog.LevelError
	}
	t.logFailure(level, op, p, errno, err)
	return errno
}

// commitErrno is errno for what is reported at close, where few programs look:
// the log always has the sentence.
func (t *tree) commitErrno(op string, p model.Path, err error) syscall.Errno {
	errno := t.errno(op, p, err)
	if _, _, logged := toErrno(err); err != nil && !logged {
		t.logFailure(slog.LevelWarn, op, p, errno, err)
	}
	return errno
}

func (t *tree) logFailure(level slog.Level, op string, p model.Path, errno syscall.Errno, err error) {
	t.log.Log(context.Background(), level, "operation refused",
		"op", op, model.LogPath, string(p), "errno", errno.Error(), model.LogErr, err)
}
