package disk

import (
	"io"
	"os"
)

// OS is the Disk of the machine. A Dir that it is given must be one that it opened.
type OS struct{}

// MakeRoot opens a folder, and makes it and its parents if they are missing.
func (o OS) MakeRoot(path string) (Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return o.OpenRoot(path)
}

// dir is a folder. It holds one pointer only, so that a Dir is no allocation more.
type dir struct{ f *os.File }

// file is a file; what it does not declare is as in the standard library.
type file struct{ *os.File }

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
