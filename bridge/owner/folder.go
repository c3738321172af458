package owner

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder is the path of the state folder, or of a folder in it. All that is kept there is opened by its methods, or by
// package store. Names are those of files right in it, which their user alone can read. The empty Folder has no
// files, and takes none.
type Folder string

// Sub is a folder in it.
func (f Folder) Sub(name string) Folder { return Folder(f.Path(name)) }

// Path is that of a file in it, for messages.
func (f Folder) Path(name string) string {
	if f == "" {
		return ""
	}
	return filepath.Join(string(f), name)
}

// Make makes the folder and its parents, if they are missing. The other methods do not.
func (f Folder) Make() error { return os.MkdirAll(string(f), 0o700) }

// FS is what the folder has, for reading.
func (f Folder) FS() fs.FS { return os.DirFS(string(f)) }

// Open opens a file for reading.
func (f Folder) Open(name string) (*os.File, error) { return os.Open(f.Path(name)) }

// Read returns what a file has.
func (f Folder) Read(name string) ([]byte, error) { return os.ReadFile(f.Path(name)) }

// Append opens a file for writing at its end, and makes it if it is missing.
func (f Folder) Append(name string) (*os.File, error) {
	return os.OpenFile(f.Path(name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
}

// Create makes a file; fs.ErrExist if it is there.
func (f Folder) Create(name string, data []byte) error {
	file, err := os.OpenFile(f.Path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// Replace makes data all that a file has. Readers see all of it or what was there, also after a power cut.
func (f Folder) Replace(name string, data []byte) error {
	return f.Put(name, func(w io.Writer) error { _, err := io.Copy(w, bytes.NewReader(data)); return err })
}

// PartPrefix begins the names of files that Put has not finished.
const PartPrefix = ".part-"

// Put is Replace with what fill writes. After an error, also of fill, nothing has changed.
func (f Folder) Put(name string, fill func(io.Writer) error) error {
	if f == "" {
		return fs.ErrNotExist
	}
	part, err := os.CreateTemp(string(f), PartPrefix) // of mode 0600
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

// sync makes the names in the folder durable, where a disk can.
func (f Folder) sync() error {
	dir, err := os.Open(string(f))
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}

// Remove removes a file.
func (f Folder) Remove(name string) error { return os.Remove(f.Path(name)) }

// RemoveAll removes the folder with all that it has.
func (f Folder) RemoveAll() error { return os.RemoveAll(string(f)) }

// Size is how many bytes the files in the folder and below it have. What cannot be read counts as nothing.
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
