//go:build !windows

package fusefs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

func TestToErrno(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		want syscall.Errno
	}{
		{nil, 0},
		{model.ErrBadName, syscall.EINVAL},
		{model.ErrControlName, syscall.EINVAL},
		{model.ErrNameTooLong, syscall.ENAMETOOLONG},
		{model.ErrReadOnly, syscall.EROFS},
		{model.ErrInvalidUTF8, syscall.EILSEQ},
		{model.ErrTooLarge, syscall.EFBIG},
		{model.ErrNoSpace, syscall.ENOSPC},
		{model.ErrOffline, syscall.EIO},
		{model.ErrRefused, syscall.EINVAL},
		{model.ErrNeedsReview, syscall.EPERM},
		{model.ErrNameTaken, syscall.EBUSY},
		{model.ErrConflict, syscall.EBUSY},
		{model.ErrNotText, syscall.EROFS},
		{model.ErrTop, syscall.EACCES},
		{model.ErrNotEmpty, syscall.ENOTEMPTY},
		{model.ErrIsDir, syscall.EISDIR},
		{model.ErrNotDir, syscall.ENOTDIR},
		{model.ErrNotNote, syscall.EPERM},
		{errNoExtension, syscall.EPERM},
		{model.ErrOtherKind, syscall.EPERM},
		{model.ErrClosed, syscall.EIO},
		{fs.ErrNotExist, syscall.ENOENT},
		{fs.ErrExist, syscall.EEXIST},
		{fs.ErrPermission, syscall.EACCES},
		{errors.ErrUnsupported, syscall.EXDEV},
		{context.Canceled, syscall.EINTR},
		{context.DeadlineExceeded, syscall.ETIMEDOUT},
		{syscall.ENOSPC, syscall.ENOSPC},
		{errors.New("something else"), syscall.EIO},
	}
	for _, tt := range tests {
		wrapped := []error{tt.err}
		if tt.err != nil {
			wrapped = append(wrapped,
				&model.Error{Op: "write", Path: "F/N.md", Err: tt.err},
				fmt.Errorf("folder %q: %w", "F", tt.err))
		}
		for _, err := range wrapped {
			if got, _, _ := toErrno(err); got != tt.want {
				t.Errorf("toErrno(%v) = %v, want %v", err, got, tt.want)
			}
		}
	}
	if len(tests) < len(errnoTable) {
		t.Errorf("%d tests for %d rows of the table", len(tests), len(errnoTable))
	}
}

func TestErrnoIsLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var told []model.Refusal
	r := errnoReporter{Log: slog.New(slog.NewTextHandler(&out, nil)), Procs: new(program.Table), Refused: func(r model.Refusal) { told = append(told, r) }}
	r.Of(t.Context(), "open", "F/N.md", &model.Error{Op: "open", Path: "F/N.md", Err: fs.ErrNotExist})
	if out.Len() != 0 {
		t.Errorf("a missing file is logged: %s", out.String())
	}
	r.Of(t.Context(), "unlink", "F/N.md", &model.Error{Op: "remove", Path: "F/N.md", Err: model.ErrNeedsReview})
	if !strings.Contains(out.String(), "level=WARN") || !strings.Contains(out.String(), "structure policy") {
		t.Errorf("a refusal is logged as %q", out.String())
	}
	out.Reset()
	r.Of(t.Context(), "write", "F/N.md", errors.New("bolt: page 7 is bad"))
	if !strings.Contains(out.String(), "level=ERROR") {
		t.Errorf("an unknown error is logged as %q", out.String())
	}
	for _, err := range []error{model.ErrReadOnly, model.ErrNoSpace, model.ErrTooLarge, model.ErrInvalidUTF8} {
		out.Reset()
		r.Of(t.Context(), "write", "F/N.md", err)
		if !strings.Contains(out.String(), err.Error()) {
			t.Errorf("%v is not logged", err)
		}
	}
	if len(told) != 6 || told[0].Op != "unlink" || told[0].Path != "F/N.md" || told[0].Errno != syscall.EPERM.Error() || !strings.Contains(told[0].Text, "structure policy") {
		t.Errorf("told of %+v", told)
	}
}
