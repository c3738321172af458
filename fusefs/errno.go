//go:build !windows

package fusefs

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// errnoTable maps errors to errnos. The first matching row counts. logged is set if the errno alone does not explain
// the failure, so that the reason must be logged.
var errnoTable = []struct {
	err    error
	errno  syscall.Errno
	logged bool
}{
	{model.ErrBadName, syscall.EINVAL, true},
	{model.ErrNameTooLong, syscall.ENAMETOOLONG, false},
	{model.ErrReadOnly, syscall.EROFS, true},
	{model.ErrInvalidUTF8, syscall.EILSEQ, true},
	{model.ErrTooLarge, syscall.EFBIG, true},
	{model.ErrNoSpace, syscall.ENOSPC, true},
	{model.ErrOffline, syscall.EIO, true},
	{model.ErrRefused, syscall.EINVAL, true},
	{model.ErrNeedsReview, syscall.EPERM, true},
	{model.ErrDeletionLimit, syscall.EPERM, true},
	{model.ErrModeNotSupported, syscall.EPERM, true},
	{model.ErrNameTaken, syscall.EBUSY, true},
	{model.ErrConflict, syscall.EBUSY, true},
	{model.ErrNotEmpty, syscall.ENOTEMPTY, false},
	{model.ErrIsDir, syscall.EISDIR, false},
	{model.ErrNotDir, syscall.ENOTDIR, false},
	{model.ErrNotNote, syscall.EPERM, true},
	{errNoExtension, syscall.EPERM, true},
	{model.ErrOtherKind, syscall.EPERM, true},
	{model.ErrClosed, syscall.EIO, false},
	{fs.ErrNotExist, syscall.ENOENT, false},
	{fs.ErrExist, syscall.EEXIST, false},
	{model.ErrTop, syscall.EACCES, true},
	{fs.ErrPermission, syscall.EACCES, false},
	{errors.ErrUnsupported, syscall.EXDEV, false},
	{context.Canceled, syscall.EINTR, false},
	{context.DeadlineExceeded, syscall.ETIMEDOUT, true},
}

// toErrno returns the errno of err, or 0 for nil. ok is set if a row of the table, or an errno in err's chain,
// determines the result. logged is set if the reason must be logged.
func toErrno(err error) (errno syscall.Errno, ok, logged bool) {
	if err == nil {
		return 0, true, false
	}
	for _, row := range errnoTable {
		if errors.Is(err, row.err) {
			return row.errno, true, row.logged
		}
	}
	if errors.As(err, &errno) && errno != 0 {
		return errno, true, false
	}
	return syscall.EIO, false, true
}

// errnoReporter maps errors to errnos. It logs and reports the details that an errno cannot carry.
type errnoReporter struct {
	Log     *slog.Logger
	Procs   *program.Table
	Refused func(model.Refusal) // receives the refusals; may be nil
	// Silent reports whether refusals to a program stay out of the log and are not passed to Refused. It may be nil.
	Silent func(program.Program) bool
}

func (r errnoReporter) Of(ctx context.Context, op string, p model.Path, err error) syscall.Errno {
	if err == nil {
		return 0
	}
	errno, ok, logged := toErrno(err)
	if logged {
		r.refused(r.Procs.Of(ctx), op, p, errno, ok, err)
	}
	return errno
}

// OfSave does the same as Of, for errors that few programs check, such as those of close(2). So it logs every error,
// even if the errno explains it.
func (r errnoReporter) OfSave(ctx context.Context, op string, p model.Path, err error) syscall.Errno {
	return r.OfSaveBy(r.Procs.Of(ctx), op, p, err)
}

// OfSaveBy does the same as OfSave, for an operation that prog has started and does not wait for.
func (r errnoReporter) OfSaveBy(prog program.Program, op string, p model.Path, err error) syscall.Errno {
	if err == nil {
		return 0
	}
	errno, ok, _ := toErrno(err)
	r.refused(prog, op, p, errno, ok, err)
	return errno
}

func (r errnoReporter) refused(prog program.Program, op string, p model.Path, errno syscall.Errno, ok bool, err error) {
	if r.Silent != nil && r.Silent(prog) {
		return
	}
	level := slog.LevelWarn
	if !ok {
		level = slog.LevelError
	}
	r.Log.Log(context.Background(), level, "operation refused",
		"op", op, model.LogPath, string(p), "errno", errno.Error(), model.LogErr, err)
	if r.Refused != nil {
		r.Refused(model.Refusal{
			Time: time.Now(), PID: prog.PID, Program: prog.Name, Op: op, Path: p, Errno: errno.Error(), Text: err.Error(), Err: err,
		})
	}
}
