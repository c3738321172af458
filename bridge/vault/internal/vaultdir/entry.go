package vaultdir

import (
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// ID identifies a file or a folder, whatever its name is.
type ID struct{ Device, Inode uint64 }

// IDOf is the identity of what info describes.
func IDOf(info *disk.Info) ID { return ID{info.Device, info.Inode} }

// IDOfStamp is the identity of the file or folder that has the stamp.
func IDOfStamp(s model.Stamp) ID { return ID{s.Device, s.Inode} }

// IDOfDir is the identity of an open folder.
func IDOfDir(dir disk.Dir) (ID, error) {
	info, err := dir.Info()
	return IDOf(&info), err
}

// StampOf is the stamp of what info describes.
func StampOf(info *disk.Info) model.Stamp {
	return model.Stamp{Device: info.Device, Inode: info.Inode, Size: info.Size, ModTime: info.ModTime, CTime: info.CTime, Birth: info.Birth}
}

// IsKind says whether info is of a type; regular files have 0.
func IsKind(info *disk.Info, kind fs.FileMode) bool { return info.Mode.Type() == kind }

// EntryOf describes the file or folder at rel.
func EntryOf(rel string, info *disk.Info) model.SourceEntry {
	return model.SourceEntry{Rel: rel, Dir: IsKind(info, fs.ModeDir), Mode: info.Mode.Perm(), Stamp: StampOf(info)}
}

// Describe is EntryOf for a name in the open folder at rel. It is not ok if nothing of that
// name is there, or what is there is hidden.
func Describe(dir disk.Dir, rel, name string) (e model.SourceEntry, ok bool) {
	info, err := dir.Stat(name)
	if err != nil {
		return e, false
	}
	return entryIn(dir, Join(rel, name), name, &info)
}

// entryIn describes the name of an open folder that is at rel, symlinks included.
func entryIn(dir disk.Dir, rel, name string, info *disk.Info) (e model.SourceEntry, ok bool) {
	e = EntryOf(rel, info)
	if !IsKind(info, fs.ModeSymlink) {
		return e, served(info, name)
	}
	if !utf8.ValidString(name) || IsTemp(name) {
		return e, false
	}
	e.Link, ok = ReadLink(dir, name, rel)
	return e, ok
}

// served says whether what info describes is a file or a folder that is not hidden.
func served(info *disk.Info, name string) bool {
	switch {
	case !utf8.ValidString(name), IsTemp(name):
		return false
	case IsKind(info, fs.ModeDir):
		return !HiddenDir(name)
	}
	return IsKind(info, 0)
}

// ReadLink reads the symlink name, which is at rel, or is to be. It is not ok if the link
// leads out of the vault, as every absolute one does, here or on the next machine, or to a
// name that begins with a dot. Whether anything is there does not matter.
func ReadLink(dir disk.Dir, name, rel string) (target string, ok bool) {
	target, err := dir.Readlink(name)
	if err != nil || target == "" || path.IsAbs(target) || !utf8.ValidString(target) {
		return "", false
	}
	at := path.Join(Parent(rel), target)
	return target, at == "." || !strings.HasPrefix(at, ".") && !strings.Contains(at, "/.")
}
