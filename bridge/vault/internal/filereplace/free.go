package filereplace

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
)

const maxNumbered = 10000

// MoveAside moves a file to a free name and returns that name. If the name wanted is not free, MoveAside adds a number
// before the extension, as in "Note 1.md".
func MoveAside(from disk.Dir, name string, to disk.Dir, wanted string) (string, error) {
	for free := range Numbered(wanted) {
		if err := RenameNew(from, name, to, free); !errors.Is(err, fs.ErrExist) {
			return free, err
		}
	}
	return "", fs.ErrExist
}

func Numbered(wanted string) iter.Seq[string] {
	stem, ext := splitExt(wanted)
	return func(yield func(string) bool) {
		for i := range maxNumbered {
			if i > 0 {
				suffix := fmt.Sprintf(" %d", i)
				wanted = clip(stem, len(suffix)+len(ext)) + suffix + ext
			}
			if !yield(clip(wanted, 0)) {
				return
			}
		}
	}
}

// conflictName returns the name for a save that could not be merged.
func conflictName(name string) string {
	stem, ext := splitExt(name)
	return fmt.Sprintf("%s (conflicted copy %s)%s", stem, time.Now().Format("2006-01-02 150405"), ext)
}

func splitExt(name string) (stem, ext string) {
	ext = path.Ext(name)
	return strings.TrimSuffix(name, ext), ext
}

// clip shortens a name so that the disk accepts it with extra bytes added.
func clip(name string, extra int) string {
	const maxName = 255
	if len(name)+extra <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName-extra], "")
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
