package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
)

// Moving files to names that are free: to the trash, and beside a note.

func (v *Vault) toTrash(p *place) error {
	trash, err := v.openTrash()
	if err != nil {
		return err
	}
	defer trash.Close()
	if _, err := moveAside(p.dir, p.name, trash, p.name); err != nil {
		return err
	}
	v.trySyncDir(trash)
	return nil
}

// openTrash opens the vault's .trash, making it if need be.
func (v *Vault) openTrash() (disk.Dir, error) {
	root, err := v.openRoot()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(trashDir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return root.OpenDir(trashDir)
}

// maxNumbered bounds the search for a free name.
const maxNumbered = 10000

// moveAside moves a file to a name that is free: wanted, or "wanted 1", "wanted 2"
// and so on before its extension. It returns the name.
func moveAside(from disk.Dir, name string, to disk.Dir, wanted string) (string, error) {
	stem, ext := splitExt(wanted)
	for i := range maxNumbered {
		if i > 0 {
			suffix := fmt.Sprintf(" %d", i)
			wanted = clip(stem, len(suffix)+len(ext)) + suffix + ext
		}
		wanted = clip(wanted, 0)
		if err := renameNew(from, name, to, wanted); !errors.Is(err, fs.ErrExist) {
			return wanted, err
		}
	}
	return "", fs.ErrExist
}

// clip shortens a name so that, with extra bytes, it is one the disk can keep.
func clip(name string, extra int) string {
	const maxName = 255
	if len(name)+extra <= maxName {
		return name
	}
	return strings.ToValidUTF8(name[:maxName-extra], "")
}

// renameNew renames to a name that must be free: fs.ErrExist. Where the disk
// cannot do that in one step, a second name is linked to the file and the first
// one removed; where it knows no links either, the name is checked first.
func renameNew(from disk.Dir, name string, to disk.Dir, newName string) error {
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
