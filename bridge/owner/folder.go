package owner

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is the path of the state folder or of a folder in it. Only the user who runs relayfs has access to its files.
// The empty Folder has no files, and writes to it fail.
type Folder string

func (f Folder) Sub(name string) Folder { return Folder(f.Path(name)) }

func (f Folder) Path(name string) string {
	if f == "" {
		return ""
	}
	return filepath.Join(string(f), name)
}

// Make creates the folder and its parents. No other method creates them.
func (f Folder) Make() error { return os.MkdirAll(string(f), 0o700) }

func (f Folder) FS() fs.FS { return os.DirFS(string(f)) }

func (f Folder) Open(name string) (*os.File, error) { return os.Open(f.Path(name)) }

func (f Folder) Read(name string) ([]byte, error) { return os.ReadFile(f.Path(name)) }

func (f Folder) Append(name string) (*os.File, error) {
	return os.OpenFile(f.Path(name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
}

func (f Folder) Create(name string, data []byte) error {
	file, err := os.OpenFile(f.Path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Replace replaces the content of a file atomically, even across a power cut.
func (f Folder) Replace(name string, data []byte) error {
	return f.Put(name, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(data)); return err })
}

// PartPrefix is the prefix of the names of unfinished files of Put.
const PartPrefix = ".part-"

// Put does the same as Replace, with the output of fill as the content. If fill fails, the file is unchanged.
func (f Folder) Put(name string, fill func(io.Writer) error) error {
	if f == "" {
		return fs.ErrNotExist
	}
	part, err := os.CreateTemp(string(f), PartPrefix) // creates the file with mode 0600
	if err != nil {
		return err
	}
	if err = errors.Join(fill(part), part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), f.Path(name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return f.sync()
}

// sync makes the names in the folder durable, if the file system can.
func (f Folder) sync() error {
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}

func (f Folder) Remove(name string) error { return os.Remove(f.Path(name)) }

func (f Folder) RemoveAll() error { return os.RemoveAll(string(f)) }

func (f Folder) Size() (bytes int64) {
	_ = fs.WalkDir(f.FS(), ".", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
