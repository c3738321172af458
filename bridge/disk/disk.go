// Package disk contains the system calls that relayfs makes on the files of a vault and of its log, behind three narrow
// interfaces, so that a test can stop between any two calls and lose unsynced data.
//
// Names are looked up in open folders, so that a renamed or replaced folder does not redirect a path. Symlinks are not
// followed, except in the path of a root. Methods other than Dir.Names are safe for concurrent use. Most errors are
// those of the system calls, or errors.ErrUnsupported.
//
// On Linux and macOS these are the *at system calls. On Windows a name is joined to the path of the opened folder, so a
// renamed or replaced folder does redirect it there.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrWriters is the error that Lease returns while a program has the file open for writing.
var ErrWriters = errors.New("open for writing")

type Info struct {
	Device, Inode  uint64
	Mode           fs.FileMode // type and permission bits
	Size           int64
	ModTime, CTime int64 // Unix nanoseconds
	Birth          int64 // Unix nanoseconds; 0 if the file system does not record it
	Links          int   // number of the file's names
	UID, GID       int   // -1 on systems without owners
}

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
	// MakeRoot opens a folder. It creates missing folders of the path with access for their owner only.
	MakeRoot(path string) (Dir, error)
	// ReadOnly reports whether the disk of a path is mounted read-only.
	ReadOnly(path string) bool
}

// MakeFolder opens a folder. If it is missing, MakeFolder creates it with a name that survives a power cut.
func MakeFolder(on Disk, path string) (Dir, error) {
	dir, err := on.OpenRoot(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	if dir, err = on.MakeRoot(path); err != nil {
		return nil, err
	}
	parent, err := on.OpenRoot(filepath.Dir(path))
	if err == nil {
		err = errors.Join(parent.Sync(), parent.Close())
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

type Dir interface {
	io.Closer
	Info() (Info, error)
	// Names returns at most n names in no particular order, or all if n < 0. It must not be called concurrently.
	Names(n int) ([]string, error)
	// Stat describes the file or folder called name. It does not follow a symlink.
	Stat(name string) (Info, error)
	// Open opens a file with the flags of os.OpenFile, or a folder for Info and Chmod. It does not block on a pipe.
	Open(name string, flag int, perm fs.FileMode) (File, error)
	// OpenDir opens a folder. For a file or a symlink it returns syscall.ENOTDIR.
	OpenDir(name string) (Dir, error)
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
	// Link gives a file a second name. It returns errors.ErrUnsupported or EPERM if the file system has no hard links.
	Link(name string, to Dir, newName string) error
	// SetTimes sets both the access and the modification time to t.
	SetTimes(name string, t time.Time) error
	// Sync makes the names durable. It does nothing if the file system cannot.
	Sync() error
	// OrdersNames reports whether the file system makes changes of names durable in order, as the journals of ext4, XFS,
	// btrfs and ZFS do. It returns true for in-memory file systems, where the order does not matter.
	OrdersNames() bool
}

// maxRead is the size in bytes above which ReadFile reads no file: a sparse file can be larger than all memory.
const maxRead = 256 << 20

// ReadFile reads a regular file and returns its Info before and after. It does not read other kinds of files. For a
// file of more than 256 MiB the error is EFBIG.
func ReadFile(dir Dir, name string) (data []byte, before, after Info, err error) {
	f, err := dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer f.Close()
	return ReadOpen(f)
}

// ReadOpen is ReadFile for an open file.
func ReadOpen(f File) (data []byte, before, after Info, err error) {
	if before, err = f.Info(); err != nil || before.Mode.Type() != 0 {
		return nil, before, before, err
	}
	if before.Size > maxRead {
		return nil, before, before, syscall.EFBIG
	}
	data = make([]byte, before.Size)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, before, after, err
	}
	after, err = f.Info()
	return data[:n], before, after, err
}

type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Info() (Info, error)
	Truncate(size int64) error
	Chmod(mode fs.FileMode) error
	Chown(uid, gid int) error
	// CopyAttributes copies another file's user extended attributes, security label and access control list, if the
	// file system and the user's rights allow it. Set the mode after CopyAttributes, not before.
	CopyAttributes(from File)
	// Sync makes content and metadata durable.
	Sync() error
	// Datasync makes the content durable, including its length.
	Datasync() error
	// StartSync starts writing the content to the disk, ahead of a Sync.
	StartSync()
	// Lease blocks every open(2) of the file for writing until release is called or the time in
	// /proc/sys/fs/lease-break-time (45 s by default) is over. With O_NONBLOCK the open fails with EAGAIN instead. The
	// file must be open for reading. Lease returns ErrWriters if a program already has the file open for writing or
	// mapped, and errors.ErrUnsupported for another user's file and on some file systems. See "Leases" in fcntl(2).
	Lease() (release func(), err error)
}
