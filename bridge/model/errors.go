package model

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Match these errors with errors.Is. Callers get an *Error with the operation and the path. Where they fit,
// fs.ErrNotExist, fs.ErrExist and fs.ErrPermission are used instead.
var (
	ErrBadName     = errors.New("name is not allowed here")
	ErrNameTooLong = errors.New("name is too long")
	ErrIsDir       = errors.New("is a folder")
	ErrNotDir      = errors.New("is not a folder")
	ErrNotEmpty    = errors.New("folder is not empty")
	ErrNotNote     = errors.New("is not a note")
	ErrOtherKind   = errors.New("a rename cannot turn a note into another file, or another file into a note; keep the extension")
	ErrReadOnly    = errors.New("is read-only")
	ErrInvalidUTF8 = errors.New("is not valid UTF-8")
	ErrTooLarge    = errors.New("is larger than 16 MiB")
	// ErrDamagedRecord concerns a single document.
	ErrDamagedRecord = errors.New("what relayfs has stored of it is damaged; its file, if it has one, is unchanged: restore a backup with 'relayfs restore --replace'")
	ErrOffline       = errors.New("folder is offline")
	// ErrNotFetched is an ErrOffline that concerns a single note.
	ErrNotFetched       = fmt.Errorf("has not been fetched from the server yet: %w", ErrOffline)
	ErrNoSpace          = errors.New("no space left on the disk")
	ErrRefused          = errors.New("change cannot become a suggestion")
	ErrContent          = errors.New("cannot hold this")
	ErrNeedsReview      = errors.New("is not allowed by the structure policy")
	ErrModeNotSupported = errors.New("permissions cannot be changed here: change them in the vault itself, or use --mode direct")
	ErrNameTaken        = errors.New("is in the way")
	ErrStale            = errors.New("changed since the proposal was made")
	ErrDefer            = errors.New("can be removed after a while")
	ErrDeletionLimit    = errors.New("would delete too many notes at once")
	ErrConflict         = errors.New("content changed in the meantime")
	ErrClosed           = errors.New("workspace is closed")
	ErrUnknownStore     = errors.New("was written by another version of relayfs")
)

// IsFull reports whether a write failed because the disk, or the user's share of it, is full.
func IsFull(err error) bool {
	return errors.Is(err, ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ExplainWrite returns the fix of a failed write, and its reason without the names of files.
func ExplainWrite(err error) (fix string, reason error) {
	fix, reason = "check its disk", err
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		reason = errno
	}
	if IsFull(err) {
		fix = "free space on its disk"
	}
	return fix, reason
}

type BadNameError struct {
	Reason string // a sentence with the next step
}

func (e *BadNameError) Error() string { return fmt.Sprintf("%v: %s", ErrBadName, e.Reason) }

func (e *BadNameError) Unwrap() error { return ErrBadName }

// ErrControlName is the error for a name that would forge the output of terminals and lists.
var ErrControlName error = &BadNameError{Reason: "it contains control characters or line breaks; remove them"}

// NotFetchedError is an ErrNotFetched with the reason that the Source gives.
type NotFetchedError struct {
	Reason string // a sentence with the next step
}

func (e *NotFetchedError) Error() string { return fmt.Sprintf("%v: %s", ErrNotFetched, e.Reason) }

func (e *NotFetchedError) Unwrap() error { return ErrNotFetched }

// NotEmptyError is an ErrNotEmpty of a folder that looks empty. It lists the folder's hidden contents.
type NotEmptyError struct {
	Holds []string // names in the folder
}

func (e *NotEmptyError) Error() string {
	const most = 5
	names := make([]string, min(len(e.Holds), most))
	for i := range names {
		names[i] = strconv.Quote(e.Holds[i])
	}
	list := strings.Join(names, ", ")
	if more := len(e.Holds) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%v: it contains %s, which relayfs does not show; the user must move or delete them first", ErrNotEmpty, list)
}

func (e *NotEmptyError) Unwrap() error { return ErrNotEmpty }

var ErrHidden = fmt.Errorf("%w: a file or folder that relayfs does not show has that name", fs.ErrExist)

type ReadOnlyError struct {
	Reason string // usually with the next step
}

func (e *ReadOnlyError) Error() string { return fmt.Sprintf("%v: %s", ErrReadOnly, e.Reason) }

func (e *ReadOnlyError) Unwrap() error { return ErrReadOnly }

// ErrNotText is the ErrReadOnly of a note that is shown as it is.
var ErrNotText error = &ReadOnlyError{Reason: "it is not valid UTF-8, is larger than 16 MiB or, on a server, has more than text in its document, so it is shown as it is; fix it in the vault or on the server"}

// ErrTop is the fs.ErrPermission for changes at the top level, outside of all roots.
var ErrTop = fmt.Errorf("the top level of the mount holds only the served folders; go into one of them: %w", fs.ErrPermission)

type Error struct {
	Op   string // "open", "write", "create", "rename", ...
	Path Path
	Err  error
}

func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s %q: %v", e.Op, string(e.Path), e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

type Refusal struct {
	Time    time.Time `json:"time"`
	PID     int       `json:"pid,omitempty"`     // 0 if unknown
	Program string    `json:"program,omitempty"` // name of the process
	Op      string    `json:"op"`                // "open", "write", "create", "rename", ...
	Path    Path      `json:"path"`
	Errno   string    `json:"errno"` // text of the errno that the program got
	Text    string    `json:"text"`  // the reason
	Err     error     `json:"-"`     // the error with the reason
}

// refusal is the reason why a change is refused. It also matches ErrRefused.
type refusal struct{ reason error }

func RefusedError(reason error) error { return &refusal{reason} }

func (r *refusal) Error() string { return r.reason.Error() }

func (r *refusal) Unwrap() []error { return []error{ErrRefused, r.reason} }

func WrapError(op string, p Path, err error) error {
	if _, known := errors.AsType[*Error](err); err == nil || known {
		return err
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return &Error{Op: op, Path: p, Err: err}
}
