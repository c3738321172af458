package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/store/internal/checkpoint"
)

// Copy writes the checkpoint with all current frames of the log to w, for Restore. It does not block appends, and may
// include those that come during the call.
func (s *Store) Copy(w io.Writer) error {
	if err := s.Checkpoint(); err != nil {
		return err
	}
	return s.wrapErr("copy", s.checkpoint.Copy(w))
}

// Holds reports whether there is, or may be, stored data at path.
func Holds(path string) bool {
	if _, err := os.Lstat(path); err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	s, err := Open(path, Options{NoBackground: true})
	if err != nil {
		return true
	}
	defer s.Close() // there are no changes to lose
	return s.HasRecords()
}

// Restore replaces the store at path with a copy made by Copy. No process may have the store open. Restore writes the
// copy next to the store, reads it completely, and then exchanges the two in one step. aside is the name of the folder
// with the old store, or "". If a step before the exchange fails, the store is unchanged. The only step after the
// exchange is the sync of the parent folder.
func Restore(path string, from io.Reader, o Options) (aside string, err error) {
	o.Disk = cmp.Or[disk.Disk](o.Disk, disk.OS{})
	name := filepath.Base(path)
	parent, err := o.Disk.OpenRoot(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("store %q: restore: %w", path, err)
	}
	defer parent.Close()
	staged := "replaced-" + time.Now().UTC().Format("20060102T150405.000Z") // the name of the old store after the exchange
	err = errors.Join(stage(filepath.Join(filepath.Dir(path), staged), from, o), parent.Sync())
	if _, missing := parent.Stat(name); err == nil && missing == nil {
		if err = parent.Exchange(staged, parent, name); errors.Is(err, errors.ErrUnsupported) {
			err = errors.New("its disk cannot exchange two folders: move the old store away, then restore again")
		}
		aside = staged
	} else if err == nil {
		err = parent.Rename(staged, parent, name)
	}
	if err != nil {
		return "", fmt.Errorf("store %q: restore: %w", path, translate(errors.Join(err, discard(parent, staged))))
	}
	return aside, parent.Sync()
}

// stage writes the copy into a new folder and reads it completely. It marks every document as settled, because the
// source's files are newer than the copy.
func stage(path string, from io.Reader, o Options) error {
	dir, err := o.Disk.MakeRoot(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	file, err := dir.Open(checkpointName, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.NewOffsetWriter(file, 0), from)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if n == 0 {
		return checkpoint.Damaged("it is empty")
	}
	copied, err := checkpoint.Open(filepath.Join(path, checkpointName), dir, o.checkpoint())
	if err != nil {
		return err
	}
	err = copied.Check()
	if err == nil {
		err = copied.SettleAll()
	}
	return errors.Join(err, copied.Close(), dir.Sync())
}

func discard(parent disk.Dir, staged string) error {
	dir, err := parent.OpenDir(staged)
	if err != nil {
		return nil // stage has not created the folder
	}
	return errors.Join(dir.Remove(checkpointName), dir.Close(), parent.Rmdir(staged))
}
