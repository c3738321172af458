package vault

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/disk"
)

// openFolder opens a folder of the vault, walking to it name by name.
func (v *Vault) openFolder(rel string) (disk.Dir, error) {
	dir, err := v.openRoot()
	if err != nil || rel == "" {
		return dir, err
	}
	for elem := range strings.SplitSeq(rel, "/") {
		next, err := dir.OpenDir(elem)
		dir.Close()
		if errors.Is(err, syscall.ENOTDIR) {
			return nil, fs.ErrNotExist // a symlink, or a file: nothing is served below
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// place is where a path leads: an open folder and a name in it.
type place struct {
	dir  disk.Dir
	name string
	rel  string
	stat disk.Info // when the place was found
}

// Close closes the folder, unless somebody else has taken it over.
func (p *place) Close() {
	if p.dir != nil {
		p.dir.Close()
	}
}

// locate finds the file or folder at rel. A symlink is fs.ErrNotExist, as what is
// hidden: the file that it leads to has a path of its own. The caller closes the
// place.
func (v *Vault) locate(rel string) (place, error) {
	if reserved(rel) {
		return place{}, fs.ErrNotExist
	}
	p, err := v.lookAt(rel)
	if err == nil && !served(&p.stat, p.name) {
		p.Close()
		return place{}, fs.ErrNotExist
	}
	return p, err
}

// lookAt is the place rel, symlink or not, hidden or not.
func (v *Vault) lookAt(rel string) (place, error) {
	dir, err := v.openFolder(parent(rel))
	if err != nil {
		return place{}, err
	}
	p := place{dir: dir, name: path.Base(rel), rel: rel}
	if p.stat, err = dir.Stat(p.name); err != nil {
		dir.Close()
		return place{}, err
	}
	return p, nil
}

// served says whether what st describes is a file or a folder that is shown.
func served(st *disk.Info, name string) bool {
	switch {
	case !utf8.ValidString(name), isTemp(name):
		return false
	case isKind(st, fs.ModeDir):
		return !hiddenDir(name)
	}
	return isKind(st, 0)
}

// readLink reads the symlink name, which is at rel, or is to be. It is not ok if
// the link leads to what nobody is shown: out of the vault, as all do that are
// absolute, here or on the next machine, or to a name that begins with a dot.
// Whether there is anything does not matter.
func readLink(dir disk.Dir, name, rel string) (target string, ok bool) {
	target, err := dir.Readlink(name)
	if err != nil || target == "" || path.IsAbs(target) || !utf8.ValidString(target) {
		return "", false
	}
	at := path.Join(parent(rel), target)
	return target, at == "." || !strings.HasPrefix(at, ".") && !strings.Contains(at, "/.")
}
