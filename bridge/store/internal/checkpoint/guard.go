package checkpoint

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrDamaged says that the file, or its log, is not what this package and frame write.
var ErrDamaged = errors.New("store is damaged")

// guard runs fn on a file that may be damaged. bbolt trusts its pages: if one is nonsense it panics or reads outside of
// the mapped file, and offers no other way to find out. So a panic, or a memory fault, is ErrDamaged.
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
	return fmt.Errorf("%w (%v): restore a backup of it with 'relayfs restore --replace', or move its folder away and start again; the notes and the marks in them are not in it, "+
		"but who made a pending suggestion, and the way back from front matter changes, is lost", ErrDamaged, reason)
}
