package vault

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge"
)

// fileID is which file something is, under whatever name.
type fileID struct{ dev, ino uint64 }

func idOf(st *unix.Stat_t) fileID { return fileID{uint64(st.Dev), st.Ino} }

func idOfEntry(e bridge.SourceEntry) fileID { return fileID{e.Stamp.Device, e.Stamp.Inode} }

func stampOf(st *unix.Stat_t) bridge.Stamp {
	return bridge.Stamp{
		Device: uint64(st.Dev), Inode: st.Ino, Size: st.Size,
		ModTime: st.Mtim.Nano(), ChgTime: st.Ctim.Nano(),
	}
}

// sameContent compares stamps of which one was taken before the file was
// renamed or lost a name, which changes its change time and nothing else.
func sameContent(a, b bridge.Stamp) bool {
	a.ChgTime, b.ChgTime = 0, 0
	return a == b
}

func isKind(st *unix.Stat_t, format uint32) bool { return st.Mode&unix.S_IFMT == format }

// entryOf describes the file or folder rel, which st belongs to.
func entryOf(rel string, st *unix.Stat_t) bridge.SourceEntry {
	return bridge.SourceEntry{
		Rel: rel, Dir: isKind(st, unix.S_IFDIR),
		Mode: fs.FileMode(st.Mode) & fs.ModePerm, Stamp: stampOf(st),
	}
}

// openAt opens name in the folder dirfd and never follows a symlink, except
// for the vault's own directory, which is opened from unix.AT_FDCWD.
func openAt(dirfd int, name string, flag int, perm uint32) (*os.File, error) {
	if dirfd != unix.AT_FDCWD {
		flag |= unix.O_NOFOLLOW
	}
	for {
		fd, err := unix.Openat(dirfd, name, flag|unix.O_CLOEXEC|unix.O_NONBLOCK, perm)
		if err == nil {
			return os.NewFile(uintptr(fd), name), nil
		}
		if !errors.Is(err, unix.EINTR) {
			return nil, err
		}
	}
}

func statOf(f *os.File) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return st, err
}

// statAt describes name itself, not what a symlink of that name points to.
func statAt(dir *os.File, name string) (unix.Stat_t, error) {
	var st unix.Stat_t
	err := unix.Fstatat(int(dir.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return st, err
}

// openFolder opens a folder of the vault, walking to it name by name.
func (v *Vault) openFolder(rel string) (*os.File, error) {
	dir, err := v.openRoot()
	if err != nil || rel == "" {
		return dir, err
	}
	for elem := range strings.SplitSeq(rel, "/") {
		next, err := openAt(int(dir.Fd()), elem, unix.O_RDONLY|unix.O_DIRECTORY, 0)
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
	rel  string      // not the path that was asked for, if that is a symlink
	stat unix.Stat_t // when the place was found
}

// Close closes the folder.
func (p *place) Close() { p.dir.Close() }

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
		if !isKind(&p.stat, unix.S_IFLNK) {
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
	if p.stat, err = statAt(dir, p.name); err != nil {
		dir.Close()
		return place{}, err
	}
	return p, nil
}

// served says whether what st describes is shown to anybody.
func served(st *unix.Stat_t, name string, viaLink bool) bool {
	switch {
	case !utf8.ValidString(name), isTemp(name):
		return false
	case isKind(st, unix.S_IFDIR):
		return !viaLink && !hiddenDir(name)
	}
	return isKind(st, unix.S_IFREG)
}

// readLink reads a relative symlink. Absolute ones lead out of the vault, or do
// so on the next machine.
func readLink(dir *os.File, name string) (target string, ok bool) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(int(dir.Fd()), name, buf)
	target = string(buf[:max(n, 0)])
	return target, err == nil && n > 0 && !path.IsAbs(target)
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
