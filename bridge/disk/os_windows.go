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

type dir struct{ f *os.File }

func (d dir) Close() error { return d.f.Close() }

func (d dir) Info() (Info, error) { return file{d.f}.Info() }

func (d dir) Names(n int) ([]string, error) {
	if _, err := d.f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	names, err := d.f.Readdirnames(n)
	if err == io.EOF { // the folder is empty
		err = nil
	}
	return names, err
}

func (d dir) at(name string) string { return filepath.Join(d.f.Name(), name) }

func (OS) OpenRoot(path string) (Dir, error) { return openDir(path, os.Stat) }

func (d dir) OpenDir(name string) (Dir, error) { return openDir(d.at(name), os.Lstat) }

func openDir(path string, stat func(string) (fs.FileInfo, error)) (Dir, error) {
	info, err := stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, syscall.ENOTDIR
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return dir{f}, nil
}

// ReadOnly returns false: writes report the error.
func (OS) ReadOnly(string) bool { return false }

func (d dir) Open(name string, flag int, perm fs.FileMode) (File, error) {
	info, err := os.Lstat(d.at(name))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, syscall.ELOOP
	}
	f, err := os.OpenFile(d.at(name), flag, perm)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (d dir) Stat(name string) (Info, error) {
	info, err := os.Lstat(d.at(name))
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return infoOf(info), err
	}
	f, err := os.Open(d.at(name)) // only an open file has an identity
	if err != nil {
		return Info{}, err
	}
	defer f.Close()
	return file{f}.Info()
}

// Info returns the modification time as the CTime. So relayfs does not notice if other content of the same size and
// modification time replaces the content.
func (f file) Info() (Info, error) {
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
	out.Birth = data.CreationTime.Nanoseconds()
	return out, err
}

func infoOf(info fs.FileInfo) Info {
	if info == nil {
		return Info{}
	}
	modTime := info.ModTime().UnixNano()
	return Info{Mode: info.Mode(), Size: info.Size(), ModTime: modTime, CTime: modTime, UID: -1, GID: -1}
}

func (d dir) Mkdir(name string) error { return os.Mkdir(d.at(name), 0o777) }

func (d dir) Rmdir(name string) error { return os.Remove(d.at(name)) }

func (d dir) Remove(name string) error { return os.Remove(d.at(name)) }

func (d dir) Rename(name string, to Dir, newName string) error {
	return os.Rename(d.at(name), to.(dir).at(newName))
}

func (d dir) RenameNew(name string, to Dir, newName string) error {
	src, err := syscall.UTF16PtrFromString(d.at(name))
	if err != nil {
		return err
	}
	dst, err := syscall.UTF16PtrFromString(to.(dir).at(newName))
	if err != nil {
		return err
	}
	return syscall.MoveFile(src, dst)
}

func (d dir) Exchange(string, Dir, string) error { return errors.ErrUnsupported }

func (d dir) Link(name string, to Dir, newName string) error {
	return os.Link(d.at(name), to.(dir).at(newName))
}

func (d dir) Readlink(name string) (string, error) {
	target, err := os.Readlink(d.at(name))
	return filepath.ToSlash(target), err
}

func (d dir) Symlink(target, name string) error {
	return os.Symlink(filepath.FromSlash(target), d.at(name))
}

func (d dir) SetTimes(name string, t time.Time) error { return os.Chtimes(d.at(name), t, t) }

// Sync does nothing: NTFS journals names.
func (d dir) Sync() error { return nil }

// OrdersNames returns false: NTFS does not guarantee that changes of names become durable in order.
func (d dir) OrdersNames() bool { return false }

func (f file) Chown(int, int) error { return nil }

func (f file) CopyAttributes(File) {}

func (f file) Datasync() error { return f.Sync() }

func (f file) StartSync() {}

func (f file) Lease() (release func(), err error) { return nil, errors.ErrUnsupported }

func MaxFiles() int { return 1 << 14 }
