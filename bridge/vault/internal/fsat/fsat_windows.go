package fsat

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func at(dir *os.File, name string) string { return filepath.Join(dir.Name(), name) }

// OpenRoot opens a folder by its path.
func OpenRoot(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, syscall.ENOTDIR
	}
	return os.Open(path)
}

// Open opens a file with the flags of os.OpenFile.
func Open(dir *os.File, name string, flag int, perm fs.FileMode) (*os.File, error) {
	info, err := os.Lstat(at(dir, name))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, syscall.ELOOP
	}
	return os.OpenFile(at(dir, name), flag, perm)
}

// OpenDir opens a folder; syscall.ENOTDIR if the name is something else.
func OpenDir(dir *os.File, name string) (*os.File, error) {
	info, err := os.Lstat(at(dir, name))
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, syscall.ENOTDIR
	}
	return os.Open(at(dir, name))
}

// ReadFile is Open, Fstat, a read of as many bytes as that said, and Fstat again.
// What is no regular file is described and not read.
func ReadFile(dir *os.File, name string) (data []byte, before, after Info, err error) {
	f, err := Open(dir, name, os.O_RDONLY, 0)
	if err != nil {
		return nil, before, after, err
	}
	defer f.Close()
	if before, err = Fstat(f); err != nil || before.Mode.Type() != 0 {
		return nil, before, before, err
	}
	data = make([]byte, before.Size)
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, before, after, err
	}
	after, err = Fstat(f)
	return data[:n], before, after, err
}

// ReadBelow is for Linux.
func ReadBelow(root, rel string) (data []byte, rootInfo, before, after Info, err error) {
	return nil, rootInfo, before, after, errors.ErrUnsupported
}

// Stat describes name itself, not what a symlink of that name points to.
func Stat(dir *os.File, name string) (Info, error) {
	info, err := os.Lstat(at(dir, name))
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return infoOf(info), err
	}
	f, err := os.Open(at(dir, name)) // only an open file has an identity
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return Fstat(f)
}

// Fstat describes an open file. There is no time of change: a content that was
// replaced by one of the same size, under the same time of modification, is not
// told from it.
func Fstat(f *os.File) (Info, error) {
	info, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	out := infoOf(info)
	var data syscall.ByHandleFileInformation
	err = syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &data)
	out.Device = uint64(data.VolumeSerialNumber)
	out.Inode = uint64(data.FileIndexHigh)<<32 | uint64(data.FileIndexLow)
	out.Links = int(data.NumberOfLinks)
	return out, err
}

func infoOf(info fs.FileInfo) Info {
	if info == nil {
		return Info{}
	}
	modTime := info.ModTime().UnixNano()
	return Info{Mode: info.Mode(), Size: info.Size(), ModTime: modTime, ChgTime: modTime, UID: -1, GID: -1}
}

// Mkdir makes a folder.
func Mkdir(dir *os.File, name string) error { return os.Mkdir(at(dir, name), 0o777) }

// Rmdir removes an empty folder.
func Rmdir(dir *os.File, name string) error { return os.Remove(at(dir, name)) }

// Remove removes a file.
func Remove(dir *os.File, name string) error { return os.Remove(at(dir, name)) }

// Rename renames a file or a folder, and replaces what has the name.
func Rename(from *os.File, name string, to *os.File, newName string) error {
	return os.Rename(at(from, name), at(to, newName))
}

// RenameNew renames to a name that must be free: fs.ErrExist.
func RenameNew(from *os.File, name string, to *os.File, newName string) error {
	src, err := syscall.UTF16PtrFromString(at(from, name))
	if err != nil {
		return err
	}
	dst, err := syscall.UTF16PtrFromString(at(to, newName))
	if err != nil {
		return err
	}
	return syscall.MoveFile(src, dst)
}

// Exchange is unknown to the system.
func Exchange(*os.File, string, *os.File, string) error { return errors.ErrUnsupported }

// CopyAttributes is for Linux.
func CopyAttributes(from, to *os.File) {}

// Link gives a file a second name.
func Link(from *os.File, name string, to *os.File, newName string) error {
	return os.Link(at(from, name), at(to, newName))
}

// Readlink is what a symlink says.
func Readlink(dir *os.File, name string) (string, error) {
	target, err := os.Readlink(at(dir, name))
	return filepath.ToSlash(target), err
}

// Symlink makes a symlink that says target.
func Symlink(target string, dir *os.File, name string) error {
	return os.Symlink(filepath.FromSlash(target), at(dir, name))
}

// Chown does nothing: a file belongs to who makes it.
func Chown(*os.File, int, int) error { return nil }

// SetTimes sets the times of access and of modification.
func SetTimes(dir *os.File, name string, t time.Time) error {
	return os.Chtimes(at(dir, name), t, t)
}

// SyncDir does nothing: NTFS journals names by itself.
func SyncDir(*os.File) error { return nil }

// OrdersNames says that it is not known whether changes of names come to the disk in their order.
func OrdersNames(*os.File) bool { return false }

// StartSync does nothing: Sync does all.
func StartSync(*os.File) {}

// DiskReadOnly is not known.
func DiskReadOnly(string) bool { return false }

// Lease is unknown to the system.
func Lease(*os.File) (release func(), err error) { return nil, errors.ErrUnsupported }

// MaxFiles is how many files this process may have open, about.
func MaxFiles() int { return 1 << 14 }
