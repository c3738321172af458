// Package fsat works on names in an open folder, so that a folder that is renamed
// or replaced meanwhile does not lead a path astray.
//
//	dir, err := fsat.OpenRoot("/home/ann/Notes")
//	f, err := fsat.Open(dir, "Plan.md", os.O_RDONLY, 0)
//	info, err := fsat.Fstat(f)
//
// No function follows a symlink, but for OpenRoot in what leads to the root. All
// may be called from several goroutines. Errors are those of the system calls; one
// that the disk or the system does not know is errors.ErrUnsupported.
//
// On Linux and macOS these are the *at system calls. Windows has none for
// programs: there a name is joined to the path that the folder was opened by, and
// the guarantee is only that of the path.
package fsat

import (
	"errors"
	"io/fs"
)

// ErrWriters says that a program has a file open for writing.
var ErrWriters = errors.New("open for writing")

// Info describes a file.
type Info struct {
	Device, Inode    uint64
	Mode             fs.FileMode // type and permission bits
	Size             int64
	ModTime, ChgTime int64 // Unix nanoseconds
	Links            int   // names of the file
	UID, GID         int   // -1 where files have none
}
