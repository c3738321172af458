package store

import (
	"fmt"
	"runtime/debug"
)

// guard runs fn on a file that may be damaged. bbolt trusts its pages: where
// they are nonsense it panics or reads outside of the mapped file, and offers no
// other way to find out. That is the one place where a panic is an answer about
// the input; it becomes ErrDamaged. Memory faults are made panics for it.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = damaged(r)
		}
	}()
	return fn()
}

func damaged(reason any) error {
	return fmt.Errorf("%w (%v): move the file away and start again; the notes and the marks in them are not in it, "+
		"but who made a pending suggestion, and the way back from front matter changes, is lost", ErrDamaged, reason)
}
