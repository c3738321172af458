package store

import (
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

// stagedSuffix names what is to take the place of the checkpoint.
const stagedSuffix = ".restored"

// Restore is a copy of a store that is about to take the place of the store at a path. No
// process may have that open until Commit or Discard has returned.
type Restore struct {
	// Kept is when what is there now changed last, and Copied the same of the copy; zero if
	// nothing ever was. Damaged is why nobody knows what is there.
	Kept, Copied time.Time
	Damaged      error

	path string
	o    Options
	dir  disk.Dir
}

// PrepareRestore puts the copy of a store that Copy wrote beside the store whose checkpoint is
// at path, and checks it. What is there is not changed, but for its checkpoint, which is brought
// up to its log.
func PrepareRestore(path string, from io.Reader, o Options) (_ *Restore, err error) {
	if o.Disk == nil {
		o.Disk = disk.OS{}
	}
	o.Manual, o.History = true, 0
	r := &Restore{path: path, o: o}
	if r.dir, err = o.Disk.OpenRoot(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if err = r.stage(from); err == nil {
		err = r.compare()
	}
	if err != nil {
		return nil, fmt.Errorf("store %q: %w", path, translate(errors.Join(err, r.Discard())))
	}
	return r, nil
}

func (r *Restore) name() string { return filepath.Base(r.path) }

// stage writes the copy, and opens it to see that it can be read. Its source's files have gone on since it was
// made: what they hold is newer than what it says, and nothing of that is carried onto it as if it were not.
func (r *Restore) stage(from io.Reader) error {
	file, err := r.dir.Open(r.name()+stagedSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(file, 0), from)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	copied, err := checkpoint.Open(r.path+stagedSuffix, r.dir, r.o.checkpoint())
	if err != nil {
		return err
	}
	err = copied.View(func(v checkpoint.View) (err error) {
		r.Copied, err = v.Newest()
		return err
	})
	if err == nil {
		err = copied.SettleAll()
	}
	return errors.Join(err, copied.Close())
}

// compare finds out what is there.
func (r *Restore) compare() error {
	if _, err := r.dir.Stat(r.name()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	s, err := Open(r.path, r.o)
	if errors.Is(err, ErrDamaged) {
		r.Damaged = err
		return nil
	}
	if err != nil {
		return err
	}
	if r.Kept, err = s.newest(); err == nil {
		err = s.Checkpoint() // it has everything then, and the log can go
	}
	return errors.Join(err, s.Close())
}

// Commit makes the copy the store. What was there is set aside in the folder of that name
// beside it, which Commit makes: the checkpoint, and of a damaged store its log. A crash leaves
// one or the other, whole, but for a damaged one: of that it may leave nothing in its place.
func (r *Restore) Commit(aside string) error {
	defer r.dir.Close()
	if err := r.setAside(aside); err != nil {
		return fmt.Errorf("store %q: set aside: %w", r.path, translate(err))
	}
	if err := r.emptyLog(); err != nil {
		return fmt.Errorf("store %q: restore: %w", r.path, translate(err))
	}
	err := r.dir.Rename(r.name()+stagedSuffix, r.dir, r.name())
	return errors.Join(err, r.dir.Sync())
}

// Discard leaves everything as it was.
func (r *Restore) Discard() error {
	err := r.dir.Remove(r.name() + stagedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, r.dir.Close())
}

func (r *Restore) setAside(name string) error {
	if _, err := r.dir.Stat(r.name()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := r.dir.Mkdir(name); err != nil {
		return err
	}
	aside, err := r.dir.OpenDir(name)
	if err != nil {
		return err
	}
	defer aside.Close()
	if r.Damaged != nil {
		err = errors.Join(r.dir.Rename(r.name()+".log", aside, r.name()+".log"), aside.Sync(), r.dir.Rename(r.name(), aside, r.name()))
		return errors.Join(err, aside.Sync(), r.dir.Sync())
	}
	if err := r.dir.Link(r.name(), aside, r.name()); err != nil {
		err = r.copyTo(aside)
		if err != nil {
			return err
		}
	}
	return errors.Join(aside.Sync(), r.dir.Sync())
}

// copyTo copies the checkpoint, where a file has only one name.
func (r *Restore) copyTo(aside disk.Dir) error {
	from, err := r.dir.Open(r.name(), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Info()
	if err != nil {
		return err
	}
	to, err := aside.Open(r.name(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.NewOffsetWriter(to, 0), io.NewSectionReader(from, 0, info.Size))
	return errors.Join(err, to.Sync(), to.Close())
}

// emptyLog removes the frames of the store that is there, durably: the copy must not be taken for older than
// they are. All of them are in the checkpoint.
func (r *Restore) emptyLog() error {
	log, err := r.dir.OpenDir(r.name() + ".log")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer log.Close()
	names, err := log.Names(-1)
	for _, name := range names {
		err = errors.Join(err, log.Remove(name))
	}
	return errors.Join(err, log.Sync())
}
