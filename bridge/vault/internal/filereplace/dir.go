package filereplace

import (
	"sync/atomic"

	"github.com/relayfs/relayfs/bridge/disk"
)

// swapDir is the swap folder. No watcher of the vault sees its temp files. The zero value has no folder.
type swapDir struct {
	dir    disk.Dir // nil if there is none
	device uint64
	off    atomic.Bool // set once a file there could not be exchanged with a note
}

func (d *swapDir) open(on disk.Disk, path string) error {
	dir, err := disk.MakeFolder(on, path)
	if err != nil {
		return err
	}
	info, err := dir.Info()
	if err != nil {
		dir.Close()
		return err
	}
	d.dir, d.device = dir, info.Device
	return nil
}

// on returns the folder if files in it can be exchanged with files on a device.
func (d *swapDir) on(device uint64) (disk.Dir, bool) {
	return d.dir, d.dir != nil && !d.off.Load() && d.device == device
}
