package model

import (
	"bytes"
	"io/fs"
	"time"
)

func FileOf(name string, data []byte, modTime time.Time) File {
	return &file{bytes.NewReader(data), name, modTime}
}

type file struct {
	*bytes.Reader
	name string
	time time.Time
}

func (f *file) WriteAt([]byte, int64) (int, error) { return 0, ErrReadOnly }
func (f *file) Truncate(int64) error               { return ErrReadOnly }
func (f *file) Sync() error                        { return nil }
func (f *file) Close() error                       { return nil }
func (f *file) Stat() (fs.FileInfo, error)         { return info{f}, nil }

type info struct{ f *file }

func (i info) Name() string       { return i.f.name }
func (i info) Size() int64        { return i.f.Reader.Size() }
func (i info) Mode() fs.FileMode  { return 0o644 }
func (i info) ModTime() time.Time { return i.f.time }
func (i info) IsDir() bool        { return false }
func (i info) Sys() any           { return nil }
