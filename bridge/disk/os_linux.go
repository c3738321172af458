package disk

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

func (d *dir) Stat(name string) (Info, error) { return statx(d.fd(), name, unix.AT_SYMLINK_NOFOLLOW) }

func fstat(fd int) (Info, error) { return statx(fd, "", unix.AT_EMPTY_PATH) }

func statx(fd int, name string, flags int) (Info, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st); err != nil {
		return Info{}, err
	}
	at := func(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	info := Info{
		Device: unix.Mkdev(st.Dev_major, st.Dev_minor), Inode: st.Ino, Mode: modeOf(uint32(st.Mode)), Size: int64(st.Size),
		ModTime: at(st.Mtime), CTime: at(st.Ctime), Links: int(st.Nlink), UID: int(st.Uid), GID: int(st.Gid),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		info.Birth = at(st.Btime)
	}
	return info, nil
}

func (OS) ReadOnly(path string) bool {
	var st unix.Statfs_t
	return unix.Statfs(path, &st) == nil && st.Flags&unix.ST_RDONLY != 0
}

func (d *dir) RenameNew(name string, to Dir, newName string) error {
	return unsupported(unix.Renameat2(d.fd(), name, to.(*dir).fd(), newName, unix.RENAME_NOREPLACE))
}

func (d *dir) Exchange(name string, other Dir, otherName string) error {
	return unsupported(unix.Renameat2(d.fd(), name, other.(*dir).fd(), otherName, unix.RENAME_EXCHANGE))
}

func (d *dir) OrdersNames() bool {
	var st unix.Statfs_t
	if unix.Fstatfs(d.fd(), &st) != nil {
		return false
	}
	const zfs = 0x2fc12fc1
	switch int64(st.Type) {
	case unix.EXT4_SUPER_MAGIC:
		return d.hasJournal()
	case unix.BTRFS_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.TMPFS_MAGIC, zfs:
		return true
	}
	return false
}

// hasJournal reports whether the folder's ext4 has a journal. It returns true if the kernel does not report this,
// because nearly all ext4 file systems have one.
func (d *dir) hasJournal() bool {
	var st unix.Stat_t
	if unix.Fstat(d.fd(), &st) != nil {
		return true
	}
	has, known := journals.Load(st.Dev)
	if !known {
		has = true
		device, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
		if err == nil {
			task, err := os.ReadFile(filepath.Join("/sys/fs/ext4", filepath.Base(device), "journal_task"))
			has = err != nil || string(bytes.TrimSpace(task)) != "<none>"
		}
		journals.Store(st.Dev, has)
	}
	return has.(bool)
}

// journals has the answers of hasJournal by device. Each save asks, and the files of the kernel take some 10 µs to read.
var journals sync.Map

func (f file) Datasync() error { return f.with(unix.Fdatasync) }

func (f file) StartSync() {
	// If SyncFileRange fails, Sync writes everything.
	_ = f.with(func(fd int) error { return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) })
}

func (f file) Lease() (release func(), err error) {
	lease := func(kind int) error {
		return f.with(func(fd int) error {
			_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, kind)
			return err
		})
	}
	switch err := lease(unix.F_RDLCK); {
	case errors.Is(err, unix.EAGAIN):
		return nil, ErrWriters
	case err != nil:
		return nil, errors.ErrUnsupported
	}
	return func() { _ = lease(unix.F_UNLCK) }, nil
}

// aclAttribute is the name of a file's access control list, which includes the mode. labelAttribute is the name of its
// SELinux label, which a new file inherits from its folder.
const (
	aclAttribute   = "system.posix_acl_access"
	labelAttribute = "security.selinux"
)

func (f file) CopyAttributes(from File) {
	_ = f.with(func(to int) error {
		return from.(file).with(func(from int) error {
			copyAttributes(from, to)
			return nil
		})
	})
}

func copyAttributes(from, to int) {
	attrs := attributes(from)
	for _, name := range attrs {
		if name != aclAttribute && name != labelAttribute && !strings.HasPrefix(name, "user.") {
			continue
		}
		value, err := attribute(from, name)
		if old, _ := attribute(to, name); err == nil && (old == nil || !bytes.Equal(old, value)) {
			_ = unix.Fsetxattr(to, name, value, 0)
		}
	}
	if !slices.Contains(attrs, aclAttribute) && slices.Contains(attributes(to), aclAttribute) {
		_ = unix.Fremovexattr(to, aclAttribute) // the file inherited the list from its folder
	}
}

func attributes(fd int) []string {
	list, err := grow(func(buf []byte) (int, error) { return unix.Flistxattr(fd, buf) })
	if err != nil || len(list) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
}

func attribute(fd int, name string) ([]byte, error) {
	return grow(func(buf []byte) (int, error) { return unix.Fgetxattr(fd, name, buf) })
}

// grow calls read with a small buffer, and again with a large buffer if the first buffer is too small.
func grow(read func([]byte) (int, error)) ([]byte, error) {
	buf := make([]byte, 1024)
	n, err := read(buf)
	if errors.Is(err, unix.ERANGE) {
		buf = make([]byte, 64<<10) // the maximum size on Linux
		n, err = read(buf)
	}
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}
