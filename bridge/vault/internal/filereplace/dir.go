package filereplace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/relayfs/relayfs/bridge/disk"
)

// swapDir is the swap folder. No watcher of the vault sees its temp files. The zero value has no folder.
type swapDir struct {
	dir    disk.Dir // nil if there is none
	device uint64
	// uid and gid are the owner and group of files that are made in the folder.
	uid, gid int

	off atomic.Bool // set once a file there could not be exchanged with a note
}

func (d *swapDir) open(on disk.Disk, path string) error {
	dir, err := on.OpenRoot(path)
	if errors.Is(err, fs.ErrNotExist) {
		dir, err = makeDurably(on, path)
	}
	if err != nil {
		return err
	}
	info, err := dir.Info()
	if err != nil {
		dir.Close()
		return err
	}
	d.dir, d.device = dir, info.Device
	d.uid, d.gid = os.Geteuid(), os.Getegid()
	if info.Mode&fs.ModeSetgid != 0 {
		d.gid = info.GID
	}
	return nil
}

// makeDurably makes a folder whose name survives a power cut.
func makeDurably(on disk.Disk, path string) (disk.Dir, error) {
	dir, err := on.MakeRoot(path)
	if err != nil {
		return nil, err
	}
	parent, err := on.OpenRoot(filepath.Dir(path))
	if err == nil {
		err = parent.Sync()
		parent.Close()
	}
	if err != nil && !errors.Is(err, syscall.EINVAL) { // EINVAL: the disk cannot sync folders
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// on returns the folder if files in it can be exchanged with files on a device.
func (d *swapDir) on(device uint64) (disk.Dir, bool) {
	return d.dir, d.dir != nil && !d.off.Load() && d.device == device
}
