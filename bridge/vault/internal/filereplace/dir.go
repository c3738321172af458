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

// swapDir is the swap folder, whose temp files no watcher of the vault sees. The zero value is none.
type swapDir struct {
	dir    disk.Dir // nil if there is none
	device uint64
	// Owner and group of files that are made there.
	uid, gid int

	off atomic.Bool // set once files there could not be exchanged with notes
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
	if err != nil && !errors.Is(err, syscall.EINVAL) { // some disks do not support it
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// on returns the folder, if files there can be exchanged with files on a device.
func (d *swapDir) on(device uint64) (disk.Dir, bool) {
	return d.dir, d.dir != nil && !d.off.Load() && d.device == device
}
