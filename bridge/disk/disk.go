// Package disk is the system calls that relayfs makes on the files of a vault and on those
// of its log, behind three narrow interfaces, so that a test can stop between any two of
// them and lose what was not synced.
//
//	root, err := disk.OS{}.OpenRoot("/home/ann/Notes")
//	f, err := root.Open("Plan.md", os.O_RDONLY, 0)
//	info, err := f.Info()
//
// Names are looked up in open folders, so that a folder that is renamed or replaced
// meanwhile does not lead a path astray. Nothing follows a symlink, except for OpenRoot in what
// leads to the root. Methods may be called from several goroutines. Errors are those of the
// system calls; one that the disk or the system does not have is errors.ErrUnsupported.
//
// On Linux and macOS these are the *at system calls. Windows has none for programs: there a
// name is joined to the path that the folder was opened by, and the guarantee is only that
// of the path.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"time"
)

// ErrWriters says that a program has a file open for writing.
var ErrWriters = errors.New("open for writing")

// Info describes a file.
type Info struct {
	Device, Inode  uint64
	Mode           fs.FileMode // type and permission bits
	Size           int64
	ModTime, CTime int64 // Unix nanoseconds
	Birth          int64 // when it was made, likewise; 0 where the disk does not say
	Links          int   // names of the file
	UID, GID       int   // -1 where files have none
}

// FileInfo is i in the standard library's terms, for a file of that name.
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

// Disk opens folders by their paths.
type Disk interface {
	// OpenRoot opens a folder.
	OpenRoot(path string) (Dir, error)
	// MakeRoot opens a folder, and makes it and its parents if they are missing, for
	// their user alone.
	MakeRoot(path string) (Dir, error)
	// ReadBelow reads the regular file at rel below the folder root, in as few system
	// calls as there can be. It also describes root, and the file before and after; what
	// is no regular file is described and not read. What leads through a symlink is an
	// error.
	ReadBelow(root, rel string) (data []byte, rootInfo, before, after Info, err error)
	// ReadOnly says whether the disk that a path is on is mounted read-only.
	ReadOnly(path string) bool
}

// Dir is an open folder.
type Dir interface {
	io.Closer
	Info() (Info, error)
	// Names lists at most n names, all of them if n < 0, in no order. One caller at a time.
	Names(n int) ([]string, error)
	// Stat describes name itself, not what a symlink of that name points to.
	Stat(name string) (Info, error)
	// Open opens a file with the flags of os.OpenFile, or a folder for Info and Chmod. A pipe
	// is not waited for.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	// OpenDir opens a folder; syscall.ENOTDIR if the name is something else.
	OpenDir(name string) (Dir, error)
	// ReadFile reads a regular file and describes it before and after. What is no regular
	// file is described and not read.
	ReadFile(name string) (data []byte, before, after Info, err error)
	Readlink(name string) (string, error)
	Symlink(target, name string) error
	Mkdir(name string) error
	// Rmdir removes an empty folder.
	Rmdir(name string) error
	// Remove removes a file.
	Remove(name string) error
	// Rename renames a file or a folder, and replaces what has the name.
	Rename(name string, to Dir, newName string) error
	// RenameNew renames to a name that must be free: fs.ErrExist.
	RenameNew(name string, to Dir, newName string) error
	// Exchange gives each of two names what the other one had, in one step.
	Exchange(name string, other Dir, otherName string) error
	// Link gives a file a second name; errors.ErrUnsupported or EPERM where files have
	// only one.
	Link(name string, to Dir, newName string) error
	// SetTimes sets the times of access and of modification.
	SetTimes(name string, t time.Time) error
	// Sync makes the names durable; EINVAL where a disk cannot.
	Sync() error
	// OrdersNames says whether the disk makes changes of names durable in the order in
	// which they were made, as the journals of ext4, XFS, btrfs and ZFS do. What is in memory
	// alone has no order to keep.
	OrdersNames() bool
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Info() (Info, error)
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	// CopyAttributes gives the file the extended attributes that are people's on another
	// one, its label, and its access control list or none. What the disk does not keep, or
	// the user may not set, is left out. The file's mode is to be set after that.
	CopyAttributes(from File)
	// Sync makes bytes and description durable.
	Sync() error
	// Datasync makes the bytes durable, and the length if it has changed.
	Datasync() error
	// StartSync has the bytes on their way to the disk, for a Sync that comes later.
	StartSync()
	// Lease makes every open(2) for writing of the file, which is itself open for reading,
	// wait until release is called or /proc/sys/fs/lease-break-time is over, 45 s. An open
	// that does not block (O_NONBLOCK) gets EAGAIN. ErrWriters if a program has it open for
	// writing already, or mapped; errors.ErrUnsupported if there is no lease to be had: on
	// another user's file, and on some disks. See "Leases" in fcntl(2).
	Lease() (release func(), err error)
}
