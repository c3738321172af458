package vaultdir

import (
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

type ID struct{ Device, Inode uint64 }

func IDOf(info *disk.Info) ID { return ID{info.Device, info.Inode} }

func IDOfStamp(s model.Stamp) ID { return ID{s.Device, s.Inode} }

func IDOfDir(dir disk.Dir) (ID, error) {
	info, err := dir.Info()
	return IDOf(&info), err
}

func StampOf(info *disk.Info) model.Stamp {
	return model.Stamp{Device: info.Device, Inode: info.Inode, Size: info.Size, ModTime: info.ModTime, CTime: info.CTime, Birth: info.Birth}
}

func EntryOf(rel string, info *disk.Info) model.SourceEntry {
	return model.SourceEntry{Rel: rel, Dir: info.Mode.IsDir(), Mode: info.Mode.Perm(), Stamp: StampOf(info)}
}

// Describe describes a name in the open folder at rel. ok is false if nothing has that name, or if it is hidden.
func Describe(dir disk.Dir, rel, name string) (e model.SourceEntry, ok bool) {
	info, err := dir.Stat(name)
	if err != nil {
		return e, false
	}
	return entryIn(dir, Join(rel, name), name, &info)
}

func entryIn(dir disk.Dir, rel, name string, info *disk.Info) (e model.SourceEntry, ok bool) {
	e = EntryOf(rel, info)
	if info.Mode.Type() != fs.ModeSymlink {
		return e, served(info, name)
	}
	if !utf8.ValidString(name) || reserved(name) {
		return e, false
	}
	e.Link, ok = ReadLink(dir, name, rel)
	return e, ok
}

func served(info *disk.Info, name string) bool {
	switch {
	case !utf8.ValidString(name), reserved(name):
		return false
	case info.Mode.IsDir():
		return !HiddenDir(name)
	}
	return info.Mode.IsRegular()
}

// ReadLink reads the symlink name in dir. rel is its path, or the path that it will have. ok is false if the link leads
// out of the vault or to a name that begins with a dot. Every absolute link leads out of the vault on some machine. The
// target need not exist.
func ReadLink(dir disk.Dir, name, rel string) (target string, ok bool) {
	target, err := dir.Readlink(name)
	if err != nil || target == "" || path.IsAbs(target) || !utf8.ValidString(target) {
		return "", false
	}
	at := path.Join(model.Parent(rel), target)
	return target, at == "." || !strings.HasPrefix(at, ".") && !strings.Contains(at, "/.")
}
