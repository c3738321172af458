package vault

import (
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
)

// temp is a complete new file beside the one it is to become.
type temp struct {
	dir   disk.Dir // not owned
	name  string
	file  disk.File
	swap  bool        // made in another folder than the one it is to be in
	stamp model.Stamp // before it is renamed

	synced bool
}

// content is what a temp file is to be.
type content struct {
	data    []byte
	modTime time.Time
	mode    fs.FileMode // unless there is old
	// old is the file whose place it is to take: it gets its mode, owner and
	// extended attributes.
	old     disk.File
	oldInfo *disk.Info
}

// newFile is newTemp, synced.
func newFile(dir disk.Dir, name string, c content) (*temp, error) {
	t, err := newTemp(dir, name, c, false)
	if err != nil {
		return nil, err
	}
	if err := t.sync(); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

// newTemp makes a temp file of that name in dir, which is the swap folder or that of the
// note. After an error no file is left.
func newTemp(dir disk.Dir, name string, c content, swap bool) (*temp, error) {
	t := &temp{dir: dir, name: name, swap: swap}
	var err error
	t.file, err = dir.Open(t.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := t.fill(c); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

// fill makes c the file's content.
func (t *temp) fill(c content) error {
	if c.old != nil {
		if err := t.own(c.oldInfo); err != nil && t.swap {
			return err // a folder may give its group to what is made in it
		}
	}
	if _, err := t.file.WriteAt(c.data, 0); err != nil {
		return err
	}
	mode := c.mode
	if c.old != nil {
		mode = c.oldInfo.Mode
		t.file.CopyAttributes(c.old) // while it can be written by whatever mode it gets
	}
	if err := t.file.Chmod(mode); err != nil {
		return err
	}
	if err := t.dir.SetTimes(t.name, c.modTime); err != nil {
		return err
	}
	st, err := t.file.Info()
	t.stamp = stampOf(&st)
	return err
}

// sync returns when the file is on the disk. It is asked once for what was filled once.
func (t *temp) sync() error {
	if t.synced {
		return nil
	}
	err := t.file.Sync()
	t.synced = err == nil
	return err
}

// own gives the file the owner and the group of the one whose place it is to take.
// Only root may give files away: else it belongs to who writes it, and to the group
// if they are in it.
func (t *temp) own(old *disk.Info) error {
	if t.file.Chown(old.UID, old.GID) == nil {
		return nil
	}
	return t.file.Chown(-1, old.GID)
}

// placed is the stamp of the file after it was renamed. If somebody has changed
// it since, that is not to be seen in the stamp: it names our bytes, or nothing
// that is on the disk.
func (t *temp) placed() model.Stamp {
	st, err := t.file.Info()
	if now := stampOf(&st); err == nil && now.SameFile(t.stamp) {
		return now
	}
	return t.stamp
}

// retract gives the file, which was renamed to name, its temp name again, so that
// discard removes it; unless somebody has changed it since, or put another there.
func (t *temp) retract(name string) {
	st, err := t.dir.Stat(name)
	if err == nil && stampOf(&st).SameFile(t.stamp) {
		_ = t.dir.RenameNew(name, t.dir, t.name)
	}
}

// leave closes the temp file, which the next start deals with.
func (t *temp) leave() { t.file.Close() }

// discard closes and removes the temp file.
func (t *temp) discard() {
	t.file.Close()
	_ = t.dir.Remove(t.name) // if it fails, the next start sweeps it
}
