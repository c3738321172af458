package fusefs

import (
	"strings"

	"golang.org/x/sys/unix"
)

// mountType is how a mount of ours counts here, whatever serves FUSE.
const mountType = "fuse." + fsName

// mountOf returns the mount at dir, the zero one if there is none. macFUSE and
// FUSE-T differ in the type, and agree to begin the source with its name.
func mountOf(dir string) (found mountEntry, err error) {
	dir, err = realDir(dir)
	if err != nil {
		return mountEntry{}, err
	}
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return mountEntry{}, err
	}
	table := make([]unix.Statfs_t, n)
	if n, err = unix.Getfsstat(table, unix.MNT_NOWAIT); err != nil {
		return mountEntry{}, err
	}
	for _, st := range table[:n] {
		if unix.ByteSliceToString(st.Mntonname[:]) != dir {
			continue
		}
		found.fstype = unix.ByteSliceToString(st.Fstypename[:])
		if strings.HasPrefix(unix.ByteSliceToString(st.Mntfromname[:]), fsName) {
			found.fstype = mountType
		}
	}
	return found, nil
}
