package vault

import (
	"io/fs"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// fileID is which file something is, under whatever name.
type fileID struct{ dev, ino uint64 }

func idOf(st *disk.Info) fileID { return fileID{st.Device, st.Inode} }

func idOfEntry(e model.SourceEntry) fileID { return fileID{e.Stamp.Device, e.Stamp.Inode} }

func stampOf(st *disk.Info) model.Stamp {
	return model.Stamp{Device: st.Device, Inode: st.Inode, Size: st.Size, ModTime: st.ModTime, ChgTime: st.ChgTime}
}

// isKind says whether st is of a type; regular files have 0.
func isKind(st *disk.Info, kind fs.FileMode) bool { return st.Mode.Type() == kind }

// entryOf describes the file or folder rel, which st belongs to.
func entryOf(rel string, st *disk.Info) model.SourceEntry {
	return model.SourceEntry{
		Rel: rel, Dir: isKind(st, fs.ModeDir),
		Mode: st.Mode.Perm(), Stamp: stampOf(st),
	}
}

func idOfDir(dir disk.Dir) (fileID, error) {
	st, err := dir.Info()
	return idOf(&st), err
}
