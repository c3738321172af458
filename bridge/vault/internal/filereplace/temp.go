package filereplace

import (
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// Temp is a complete new file that is yet to get its name.
type Temp struct {
	Name  string      // in its folder
	Stamp model.Stamp // before it is renamed

	dir    disk.Dir // the caller's, who closes it
	file   disk.File
	swap   bool // dir is the swap folder
	synced bool
}

// Content is what a temp file is to be.
type Content struct {
	Data    []byte
	ModTime time.Time
	Mode    fs.FileMode

	// old is the file that it displaces: it gets the mode, the owner and the extended
	// attributes of that.
	old     disk.File
	oldInfo *disk.Info
	owned   bool // a new file has the owner already
}

// NewFile makes a temp file in dir, and syncs it. After an error no file is left.
func (s *Swapper) NewFile(dir disk.Dir, name string, c Content) (*Temp, error) {
	t, err := newTemp(dir, name, c, false)
	if err != nil {
		return nil, err
	}
	if err := s.sync(t); err != nil {
		t.Discard()
		return nil, err
	}
	return t, nil
}

// newTemp is NewFile without the sync. swap says that dir is the swap folder.
func newTemp(dir disk.Dir, name string, c Content, swap bool) (*Temp, error) {
	perm := fs.FileMode(0o600) // until it has its owner
	if c.owned {
		perm = c.oldInfo.Mode.Perm()
	}
	file, err := dir.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return nil, err
	}
	t := &Temp{Name: name, dir: dir, file: file, swap: swap}
	if err := t.fill(c); err != nil {
		t.Discard()
		return nil, err
	}
	return t, nil
}

func (t *Temp) fill(c Content) error {
	if c.old != nil && !c.owned {
		if err := t.chown(c.oldInfo); err != nil && t.swap {
			return err // a folder may give its group to what is made in it
		}
	}
	if _, err := t.file.WriteAt(c.Data, 0); err != nil {
		return err
	}
	mode := c.Mode
	if c.old != nil {
		mode = c.oldInfo.Mode
		t.file.CopyAttributes(c.old) // while it can be written by whatever mode it gets
	}
	if err := t.dir.SetTimes(t.Name, c.ModTime); err != nil {
		return err
	}
	info, err := t.file.Info()
	if err == nil && info.Mode != mode {
		if err = t.file.Chmod(mode); err == nil {
			info, err = t.file.Info()
		}
	}
	t.Stamp = vaultdir.StampOf(&info)
	return err
}

// sync makes a new file durable before it is renamed. Nothing changes it after fill, so one sync is enough.
//
// Where names do not come to the disk in their order its temp name is made durable, too. A program may
// save to the file as soon as it has a note's name, and fsync makes no name durable there: if a power cut takes the
// rename, the file would be without a name, and the save lost.
func (s *Swapper) sync(t *Temp) error {
	if t.synced {
		return nil
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	if !s.ordersNames(t.Stamp.Device, t.dir) {
		s.o.Syncs.SyncBestEffort(t.dir) // a save does not fail for want of a name
	}
	t.synced = true
	return nil
}

// chown gives the file the owner and the group of the one that it displaces. Only root may
// give files away: for others it is the group, if they are in it.
func (t *Temp) chown(old *disk.Info) error {
	if t.file.Chown(old.UID, old.GID) == nil {
		return nil
	}
	return t.file.Chown(-1, old.GID)
}

// Placed is the stamp of the file after it was renamed. If somebody has changed the file
// since, it is the stamp from before: it names our bytes, or nothing on the disk.
func (t *Temp) Placed() model.Stamp {
	info, err := t.file.Info()
	if now := vaultdir.StampOf(&info); err == nil && now.SameFile(t.Stamp) {
		return now
	}
	return t.Stamp
}

// Retract gives the file, which was renamed to name in its folder, its temp name again, so
// that Discard removes it; unless somebody has changed it since, or put another there.
func (t *Temp) Retract(name string) {
	info, err := t.dir.Stat(name)
	if now := vaultdir.StampOf(&info); err == nil && now.SameFile(t.Stamp) {
		_ = RenameNew(t.dir, name, t.dir, t.Name)
	}
}

// isChanged says whether somebody has written to the pre-image, which is under the temp name.
func (t *Temp) isChanged() bool {
	name, tagged := parseTag(t.Name)
	info, err := t.dir.Stat(t.Name)
	return tagged && err == nil && info.Inode == name.pre.inode && !name.isPreImage(&info)
}

// closeForRecovery closes the temp file. The next process deals with it.
func (t *Temp) closeForRecovery() { t.file.Close() }

// Discard closes the temp file and removes it, if it has its temp name still.
func (t *Temp) Discard() {
	t.file.Close()
	_ = t.dir.Remove(t.Name) // if it fails, the next process sweeps it
}
