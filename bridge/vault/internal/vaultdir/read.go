package vaultdir

import (
	"errors"
	"io/fs"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// These limits decide when a program's save is over.
const (
	// QuietAge is the age at which a file counts as settled: editors write their text in one batch, within a few
	// milliseconds.
	QuietAge  = 100 * time.Millisecond
	LookEvery = 10 * time.Millisecond
	// MaxQuietWait is the maximum wait for the end of a save. After it a truncated file counts as emptied and a missing
	// file as removed. A file that is written all the time is then shown as it is.
	MaxQuietWait = time.Second
)

// StatSample is the state of a path, with the time since which the path is in this state.
type StatSample struct {
	Stamp model.Stamp
	Err   error
	Since time.Time
}

func (s *StatSample) Update(stamp model.Stamp, err error, now time.Time) {
	if s.Since.IsZero() || s.Stamp != stamp || (s.Err == nil) != (err == nil) {
		s.Since = now
	}
	s.Stamp, s.Err = stamp, err
}

// ErrTorn is the error of Read for a file that changed during the read.
var ErrTorn = errors.New("file changes while it is read")

// Read reads the file at rel as it is. If the file changes during the read, it returns the bytes that it got, ErrTorn
// and an outdated stamp.
func (f *Folder) Read(rel string) ([]byte, model.Stamp, error) {
	p, err := f.Locate(rel)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	defer p.Close()
	if p.Info.Mode.IsDir() {
		return nil, model.Stamp{}, model.ErrIsDir
	}
	return asRead(disk.ReadFile(p.Dir, p.Name))
}

// ReadOpen is Read for an open file.
func ReadOpen(f disk.File) ([]byte, model.Stamp, error) { return asRead(disk.ReadOpen(f)) }

func asRead(data []byte, before, after disk.Info, err error) ([]byte, model.Stamp, error) {
	switch {
	case errors.Is(err, syscall.EFBIG):
		err = model.ErrTooLarge
	case err == nil && !before.Mode.IsRegular():
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, model.Stamp{}, err
	}
	stamp := StampOf(&before)
	if int64(len(data)) < before.Size || StampOf(&after) != stamp {
		return data, stamp, ErrTorn
	}
	return data, stamp, nil
}
