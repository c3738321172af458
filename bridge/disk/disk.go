// Package disk has the system calls that relayfs makes on the files of a vault and of its log, behind three narrow
// interfaces, so that a test can stop between any two of them and lose what was not synced.
//
//	root, err := disk.OS{}.OpenRoot("/home/ann/Notes")
//	f, err := root.Open("Plan.md", os.O_RDONLY, 0)
//	info, err := f.Info()
//
// Names are looked up in open folders, so that a folder that is renamed or replaced does not lead a path astray. No symlink
// is followed, except by OpenRoot on the way to the root. Methods are safe for concurrent use. Errors are those of the
// system calls, or errors.ErrUnsupported.
//
// On Linux and macOS these are the *at system calls. On Windows a name is joined to the path of the opened folder, with only
// the guarantees of paths.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrWriters is the error of a Lease while a program has the file open for writing.
var ErrWriters = errors.New("open for writing")

type Info struct {
	Device, Inode  uint64
	Mode           fs.FileMode // type and permission bits
	Size           int64
	ModTime, CTime int64 // Unix nanoseconds
	Birth          int64 // Unix nanoseconds; 0 where the disk does not record it
	Links          int   // names of the file
	UID, GID       int   // -1 where files have none
}

// FileInfo converts i for a file with that name.
func (i Info) FileInfo(name string) fs.FileInfo { return fileInfo{name, i} }

type fileInfo struct {
	name string
	info Info
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.info.Size }
func (i fileInfo) Mode() fs.FileMode  { return i.info.Mode }
func (i fileInfo) ModTime() time.Time { return time.Unix(0, i.info.ModTime) }
func (i fileInfo) IsDir() bool        { return i.info.Mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }

type Disk interface {
	OpenRoot(path string) (Dir, error)
	// MakeRoot opens a folder, and creates it and its parents, for their user alone, if they are missing.
	MakeRoot(path string) (Dir, error)
	// ReadBelow reads the regular file at rel below the folder root in as few system calls as possible, and describes root, and
	// the file before and after. What is not a regular file is described and not read. A symlink on the way is an error.
	ReadBelow(root, rel string) (data []byte, rootInfo, before, after Info, err error)
	// ReadOnly reports whether the disk of a path is mounted read-only.
	ReadOnly(path string) bool
}

type Dir interface {
	io.Closer
	Info() (Info, error)
	// Names lists at most n names, all if n < 0, unordered. One caller at a time.
	Names(n int) ([]string, error)
	// Stat describes name itself, not the target of a symlink.
	Stat(name string) (Info, error)
	// Open opens a file with the flags of os.OpenFile, or a folder for Info and Chmod. It does not wait for a pipe.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	// OpenDir opens a folder, or returns syscall.ENOTDIR.
	OpenDir(name string) (Dir, error)
	// ReadFile reads a regular file and describes it before and after. What is not a regular file is described and not read.
	ReadFile(name string) (data []byte, before, after Info, err error)
	Readlink(name string) (string, error)
	Symlink(target, name string) error
	Mkdir(name string) error
	Rmdir(name string) error
	Remove(name string) error
	// Rename renames a file or a folder, and replaces the target.
	Rename(name string, to Dir, newName string) error
	// RenameNew renames to a free name, or returns fs.ErrExist.
	RenameNew(name string, to Dir, newName string) error
	// Exchange swaps two names in one step.
	Exchange(name string, other Dir, otherName string) error
	// Link gives a file a second name; errors.ErrUnsupported or EPERM where files have only one.
	Link(name string, to Dir, newName string) error
	// SetTimes sets the access and modification times.
	SetTimes(name string, t time.Time) error
	// Sync makes the names durable; EINVAL where a disk cannot.
	Sync() error
	// OrdersNames reports whether the disk makes changes of names durable in their order, as the journals of ext4, XFS,
	// btrfs and ZFS do. In memory there is no order to keep.
	OrdersNames() bool
}

type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Info() (Info, error)
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	// CopyAttributes copies the user's extended attributes of another file, its label, and its access control list, as far
	// as the disk and the user's rights allow. Set the mode afterwards.
	CopyAttributes(from File)
	// Sync makes content and metadata durable.
	Sync() error
	// Datasync makes the content durable, including its length.
	Datasync() error
	// StartSync starts writing the content to the disk, ahead of a Sync.
	StartSync()
	// Lease makes every open(2) of the file for writing wait until release is called or /proc/sys/fs/lease-break-time is over,
	// 45 s; with O_NONBLOCK it fails with EAGAIN. The file must be open for reading. ErrWriters if a program has it open for
	// writing already, or mapped; errors.ErrUnsupported on another user's file and on some disks. See "Leases" in fcntl(2).
	Lease() (release func(), err error)
}
