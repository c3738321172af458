package bridgetest

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// OpenFile opens a file with the flags of os.OpenFile. It does not check access modes.
func (s *Source) OpenFile(rel string, flag int, perm fs.FileMode) (model.File, error) {
	var e *entry
	err := s.do("open", rel, func(t *tree) (err error) {
		e, err = t.find(rel)
		switch {
		case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
			return fs.ErrExist
		case err == nil && e.dir:
			return model.ErrIsDir
		case err != nil && flag&os.O_CREATE != 0:
			e = &entry{mode: perm.Perm()}
			err = t.add(rel, e)
		}
		if err == nil && flag&os.O_TRUNC != 0 {
			e.data = nil
			t.touch(e, time.Now())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &file{s, e, rel}, nil
}

func (s *Source) PutFile(rel string, data []byte, perm fs.FileMode) (model.Stamp, error) {
	e := &entry{mode: perm.Perm(), data: slices.Clone(data)}
	err := s.do("write", rel, func(t *tree) error {
		old, err := t.find(rel)
		if err != nil {
			return err
		}
		if old.dir {
			return model.ErrIsDir
		}
		t.entries[rel] = e
		t.touch(e, time.Now())
		return nil
	})
	return e.stamp, err
}

type file struct {
	s   *Source
	e   *entry
	rel string
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.s.locked(func(*tree) error {
		n, err = bytes.NewReader(f.e.data).ReadAt(p, off)
		return err
	})
	return n, err
}

func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.s.locked(func(t *tree) error {
		f.resize(max(int64(len(f.e.data)), off+int64(len(p))))
		n = copy(f.e.data[off:], p)
		t.touch(f.e, time.Now())
		return nil
	})
	return n, err
}

func (f *file) Truncate(size int64) error {
	return f.s.locked(func(t *tree) error {
		f.resize(size)
		t.touch(f.e, time.Now())
		return nil
	})
}

// resize copies the data, so that the bytes of earlier readers do not change.
func (f *file) resize(size int64) {
	data := make([]byte, size)
	copy(data, f.e.data)
	f.e.data = data
}

func (f *file) Sync() error  { return nil }
func (f *file) Close() error { return nil }

func (f *file) Stat() (info fs.FileInfo, err error) {
	err = f.s.locked(func(*tree) error {
		info = disk.Info{Mode: f.e.mode, Size: int64(len(f.e.data)), ModTime: f.e.stamp.ModTime}.FileInfo(path.Base(f.rel))
		return nil
	})
	return info, err
}
