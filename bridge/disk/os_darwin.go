package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (OS) ReadOnly(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.MNT_RDONLY != 0
}

func (d *dir) Stat(name string) (Info, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return infoOf(&st), err
}

func fstat(fd int) (Info, error) {
	var st unix.Stat_t
	err := unix.Fstat(fd, &st)
	return infoOf(&st), err
}

func infoOf(st *unix.Stat_t) Info {
	return Info{
		Device: uint64(st.Dev), Inode: st.Ino, Mode: modeOf(uint32(st.Mode)), Size: st.Size,
		ModTime: st.Mtim.Nano(), CTime: st.Ctim.Nano(), Birth: st.Btim.Nano(), Links: int(st.Nlink), UID: int(st.Uid), GID: int(st.Gid),
	}
}

func (d *dir) RenameNew(name string, to Dir, newName string) error {
	return unsupported(unix.RenameatxNp(d.fd(), name, to.(*dir).fd(), newName, unix.RENAME_EXCL))
}

func (d *dir) Exchange(name string, other Dir, otherName string) error {
	return unsupported(unix.RenameatxNp(d.fd(), name, other.(*dir).fd(), otherName, unix.RENAME_SWAP))
}

// OrdersNames returns false: APFS does not guarantee that changes of names become durable in order.
func (d *dir) OrdersNames() bool { return false }

func (f file) Datasync() error { return f.Sync() } // Sync also flushes the disk's cache

func (f file) StartSync() {}

func (f file) Lease() (release func(), err error) { return nil, errors.ErrUnsupported }

func (f file) CopyAttributes(File) {}
