package vault

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/vault/internal/fsat"
)

// fileID is which file something is, under whatever name.
type fileID struct{ dev, ino uint64 }

func idOf(st *fsat.Info) fileID { return fileID{st.Device, st.Inode} }

func idOfEntry(e bridge.SourceEntry) fileID { return fileID{e.Stamp.Device, e.Stamp.Inode} }

func stampOf(st *fsat.Info) bridge.Stamp {
	return bridge.Stamp{Device: st.Device, Inode: st.Inode, Size: st.Size, ModTime: st.ModTime, ChgTime: st.ChgTime}
}

// sameContent compares stamps of which one was taken before the file was
// renamed or lost a name, which changes its change time and nothing else.
func sameContent(a, b bridge.Stamp) bool {
	a.ChgTime, b.ChgTime = 0, 0
	return a == b
}

// isKind says whether st is of a type; regular files have 0.
func isKind(st *fsat.Info, kind fs.FileMode) bool { return st.Mode.Type() == kind }

// entryOf describes the file or folder rel, which st belongs to.
func entryOf(rel string, st *fsat.Info) bridge.SourceEntry {
	return bridge.SourceEntry{
		Rel: rel, Dir: isKind(st, fs.ModeDir),
		Mode: st.Mode.Perm(), Stamp: stampOf(st),
	}
}

// openFolder opens a folder of the vault, walking to it name by name.
func (v *Vault) openFolder(rel string) (*os.File, error) {
	dir, err := v.openRoot()
	if err != nil || rel == "" {
		return dir, err
	}
	for elem := range strings.SplitSeq(rel, "/") {
		next, err := fsat.OpenDir(dir, elem)
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

// place is where a path leads: an open folder and a name in it, which is no symlink.
type place struct {
	dir  *os.File
	name string
	rel  string    // not the path that was asked for, if that is a symlink
	stat fsat.Info // when the place was found
}

// Close closes the folder, unless somebody else has taken it over.
func (p *place) Close() {
	if p.dir != nil {
		p.dir.Close()
	}
}

// maxLinks bounds how many symlinks lead to one file, so that loops end.
const maxLinks = 8

// locate finds the file or folder at rel, through symlinks that stay in the
// vault. What is hidden is fs.ErrNotExist. The caller closes the place.
func (v *Vault) locate(rel string) (place, error) {
	asked := rel
	for range maxLinks {
		if reserved(rel) {
			break
		}
		p, err := v.lookAt(rel)
		if err != nil {
			return place{}, err
		}
		if !isKind(&p.stat, fs.ModeSymlink) {
			if served(&p.stat, p.name, asked != rel) {
				return p, nil
			}
			p.Close()
			break
		}
		target, ok := readLink(p.dir, p.name)
		p.Close()
		if ok {
			rel = path.Join(parent(rel), target)
		}
		if !ok || rel == ".." || strings.HasPrefix(rel, "../") {
			break
		}
		v.linked(rel, asked)
	}
	return place{}, fs.ErrNotExist
}

// lookAt is the place rel itself, symlink or not.
func (v *Vault) lookAt(rel string) (place, error) {
	dir, err := v.openFolder(parent(rel))
	if err != nil {
		return place{}, err
	}
	p := place{dir: dir, name: path.Base(rel), rel: rel}
	if p.stat, err = fsat.Stat(dir, p.name); err != nil {
		dir.Close()
		return place{}, err
	}
	return p, nil
}

// served says whether what st describes is shown to anybody.
func served(st *fsat.Info, name string, viaLink bool) bool {
	switch {
	case !utf8.ValidString(name), isTemp(name):
		return false
	case isKind(st, fs.ModeDir):
		return !viaLink && !hiddenDir(name)
	}
	return isKind(st, 0)
}

// readLink reads a relative symlink. Absolute ones lead out of the vault, or do
// so on the next machine.
func readLink(dir *os.File, name string) (target string, ok bool) {
	target, err := fsat.Readlink(dir, name)
	return target, err == nil && target != "" && !path.IsAbs(target)
}

// linked remembers that the path link shows the content of target.
func (v *Vault) linked(target, link string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.links[target] == nil {
		v.links[target] = make(map[string]bool)
	}
	v.links[target][link] = true
}

// linksTo lists the symlinks through which target is served as well.
func (v *Vault) linksTo(target string) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var links []string
	for link := range v.links[target] {
		links = append(links, link)
	}
	return links
}
