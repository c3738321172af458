package wal

import (
	"io/fs"
	"os"
	"path/filepath"
)

// OSDir is a folder of the machine, which is made if it is missing.
func OSDir(path string) (Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	return osDir(path), nil
}

type osDir string

func (d osDir) Open(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(filepath.Join(string(d), name), flag, perm)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (d osDir) List() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (d osDir) Rename(oldName, newName string) error {
	return os.Rename(filepath.Join(string(d), oldName), filepath.Join(string(d), newName))
}

func (d osDir) Remove(name string) error { return os.Remove(filepath.Join(string(d), name)) }

func (d osDir) Sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
