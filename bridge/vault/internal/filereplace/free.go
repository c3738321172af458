package filereplace

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// MoveAside moves a file to the first free one of model.NumberedNames and returns that name.
func MoveAside(from disk.Dir, name string, to disk.Dir, wanted string) (free string, err error) {
	for free = range model.NumberedNames(wanted) {
		if err = RenameNew(from, name, to, free); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return free, err
}

// conflictName returns the name for a save that could not be merged.
func conflictName(name string) string {
	return model.BeforeExt(name, time.Now().Format(" (conflicted copy 2006-01-02 150405)"))
}

// RenameNew renames a file to a name that must be free, or returns fs.ErrExist. If the disk cannot do that in one step,
// RenameNew links the file to the new name and removes the old name. Without links, it checks the name before the
// rename.
func RenameNew(from disk.Dir, name string, to disk.Dir, newName string) error {
	err := from.RenameNew(name, to, newName)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	switch err := from.Link(name, to, newName); {
	case err == nil:
		return from.Remove(name)
	case !errors.Is(err, syscall.EPERM) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EMLINK):
		return err
	}
	if _, err := to.Stat(newName); err == nil {
		return fs.ErrExist
	}
	return from.Rename(name, to, newName)
}
