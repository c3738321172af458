package checkpoint

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrDamaged is wrapped by errors about a file or log with content that neither this package nor package wal writes.
var ErrDamaged = errors.New("store is damaged")

// guard converts panics and memory faults of fn to ErrDamaged: those of checkPages, and those of bbolt if the file is
// damaged or truncated while it is open.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = Damaged(fmt.Sprintf("a page cannot be read: %v", r))
		}
	}()
	return fn()
}

func Damaged(reason any) error {
	return fmt.Errorf("%w (%v): restore a backup with 'relayfs restore --replace', or move its folder away and start again; this does not affect the notes and their marks, "+
		"but it loses the authors of pending suggestions and the undo of front matter changes", ErrDamaged, reason)
}
