package vault

import (
	"io/fs"
	"os"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/fsat"
)

// fileID is which file something is, under whatever name.
type fileID struct{ dev, ino uint64 }

func idOf(st *fsat.Info) fileID { return fileID{st.Device, st.Inode} }

func idOfEntry(e model.SourceEntry) fileID { return fileID{e.Stamp.Device, e.Stamp.Inode} }

func stampOf(st *fsat.Info) model.Stamp {
	return model.Stamp{Device: st.Device, Inode: st.Inode, Size: st.Size, ModTime: st.ModTime, ChgTime: st.ChgTime}
}

// isKind says whether st is of a type; regular files have 0.
func isKind(st *fsat.Info, kind fs.FileMode) bool { return st.Mode.Type() == kind }

// entryOf describes the file or folder rel, which st belongs to.
func entryOf(rel string, st *fsat.Info) model.SourceEntry {
	return model.SourceEntry{
		Rel: rel, Dir: isKind(st, fs.ModeDir),
		Mode: st.Mode.Perm(), Stamp: stampOf(st),
	}
}

func idOfDir(dir *os.File) (fileID, error) {
	st, err := fsat.Fstat(dir)
	return idOf(&st), err
}
