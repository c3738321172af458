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

// Copy writes the checkpoint with everything that the log has now, for PrepareRestore. What is appended meanwhile is
// not in it, and does not wait.
func (s *Store) Copy(w io.Writer) error {
	if err := s.Checkpoint(); err != nil {
		return err
	}
	return s.fail("copy", s.checkpoint.Copy(w))
}

// A restore is decided in one step: when the copy, which is whole, gets the second of these names. Open and Commit
// carry out what is decided.
const (
	stagedSuffix  = ".staged"
	decidedSuffix = ".restored"
)

// Restore is a copy of a store that is about to take the place of the store at a path. No
// process may have that open until Commit or Discard has returned.
type Restore struct {
	// Kept says that something is stored there, or that nobody can tell.
	Kept bool

	path   string
	parent disk.Dir
}

// PrepareRestore puts the copy of a store that Copy wrote beside the store at path, which need not be there, and checks
// it. What is there is not changed.
func PrepareRestore(path string, from io.Reader, o Options) (_ *Restore, err error) {
	o.Disk = cmp.Or[disk.Disk](o.Disk, disk.OS{})
	o.Manual, o.History = true, 0
	r := &Restore{path: path}
	var name string
	if r.parent, name, err = openParent(path, o.Disk); err != nil {
		return nil, err
	}
	if _, err := r.parent.Stat(name); err == nil {
		s, err := Open(path, o)
		if r.Kept = err != nil || s.Used(); err == nil {
			_ = s.Close() // nothing was changed
		}
	}
	if err = r.stage(from, o); err != nil {
		return nil, fmt.Errorf("store %q: %w", path, translate(errors.Join(err, r.Discard())))
	}
	return r, nil
}

// stage writes the copy, and reads all of it. Its source's files have gone on since it was
// made: what they hold is newer than what it says, and nothing of that is carried onto it as if it were not.
func (r *Restore) stage(from io.Reader, o Options) error {
	dir, err := o.Disk.MakeRoot(r.path + stagedSuffix)
	if err != nil {
		return err
	}
	defer dir.Close()
	file, err := dir.Open(checkpointName, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
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
	copied, err := checkpoint.Open(filepath.Join(r.path+stagedSuffix, checkpointName), dir, o.checkpoint())
	if err != nil {
		return err
	}
	err = copied.Check()
	if err == nil {
		err = copied.SettleAll()
	}
	return errors.Join(err, copied.Close(), dir.Sync())
}

// Commit makes the copy the store. What was there is set aside as it is, in a folder beside it, whose name it
// returns; "" if nothing was. A crash leaves one or the other, whole.
func (r *Restore) Commit() (aside string, err error) {
	defer r.parent.Close()
	name := filepath.Base(r.path)
	err = r.parent.Rename(name+stagedSuffix, r.parent, name+decidedSuffix)
	if err = errors.Join(err, r.parent.Sync()); err == nil {
		aside, err = finishRestore(r.parent, name)
	}
	if err != nil {
		err = fmt.Errorf("store %q: restore: %w", r.path, translate(err))
	}
	return aside, err
}

// finishRestore carries out a restore that was decided, if there is one.
func finishRestore(parent disk.Dir, name string) (aside string, err error) {
	if _, err := parent.Stat(name + decidedSuffix); err != nil {
		return "", nothingThere(err)
	}
	aside = "replaced-" + time.Now().UTC().Format("20060102T150405.000Z")
	switch err := parent.Rename(name, parent, aside); {
	case errors.Is(err, fs.ErrNotExist):
		aside = ""
	case err != nil:
		return "", err
	}
	if err := parent.Sync(); err != nil {
		return "", err
	}
	return aside, errors.Join(parent.Rename(name+decidedSuffix, parent, name), parent.Sync())
}

// Discard leaves everything as it was.
func (r *Restore) Discard() error {
	defer r.parent.Close()
	name := filepath.Base(r.path) + stagedSuffix
	dir, err := r.parent.OpenDir(name)
	if err != nil {
		return nothingThere(err)
	}
	err = nothingThere(dir.Remove(checkpointName))
	return errors.Join(err, dir.Close(), r.parent.Rmdir(name))
}

func nothingThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
