package bridgetest

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// OpenFile opens a file with the flags of os.OpenFile. Access modes are not
// checked.
func (s *Source) OpenFile(rel string, flag int, perm fs.FileMode) (model.File, error) {
	if err := s.lock("open", rel); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	e, err := s.find(rel)
	switch {
	case err == nil && flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		return nil, fail("open", rel, fs.ErrExist)
	case err == nil && e.dir:
		return nil, fail("open", rel, model.ErrIsDir)
	case err != nil && flag&os.O_CREATE != 0:
		e = &entry{mode: perm.Perm()}
		err = s.add(rel, e)
	}
	if err != nil {
		return nil, fail("open", rel, err)
	}
	if flag&os.O_TRUNC != 0 {
		e.data = nil
		s.touch(e, time.Now())
	}
	return &file{s, e, rel}, nil
}

// PutFile puts a new file in the place of the one at rel.
func (s *Source) PutFile(rel string, data []byte, perm fs.FileMode) (model.Stamp, error) {
	if err := s.lock("write", rel); err != nil {
		return model.Stamp{}, err
	}
	defer s.mu.Unlock()
	old, err := s.find(rel)
	if err == nil && old.dir {
		err = model.ErrIsDir
	}
	if err != nil {
		return model.Stamp{}, fail("write", rel, err)
	}
	e := &entry{mode: perm.Perm(), data: slices.Clone(data)}
	s.entries[rel] = e
	s.touch(e, time.Now())
	return e.stamp, nil
}

// file is an open file. It stays the same file when that is renamed.
type file struct {
	s   *Source
	e   *entry
	rel string
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	if off >= int64(len(f.e.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.e.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.resize(max(int64(len(f.e.data)), off+int64(len(p))))
	n := copy(f.e.data[off:], p)
	f.s.touch(f.e, time.Now())
	return n, nil
}

func (f *file) Truncate(size int64) error {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	f.resize(size)
	f.s.touch(f.e, time.Now())
	return nil
}

// resize copies, so that nobody else sees the bytes change.
func (f *file) resize(size int64) {
	data := make([]byte, size)
	copy(data, f.e.data)
	f.e.data = data
}

func (f *file) Sync() error  { return nil }
func (f *file) Close() error { return nil }

func (f *file) Stat() (fs.FileInfo, error) {
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	return info{path.Base(f.rel), *f.e}, nil
}

// info is the fs.FileInfo of an entry as it was.
type info struct {
	name string
	e    entry
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.e.data)) }
func (i info) Mode() fs.FileMode  { return i.e.mode }
func (i info) ModTime() time.Time { return time.Unix(0, i.e.stamp.ModTime) }
func (i info) IsDir() bool        { return i.e.dir }
func (i info) Sys() any           { return nil }
