package filereplace

import (
	"io/fs"
	"os"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

type Temp struct {
	Name  string      // name in its folder
	Stamp model.Stamp // stamp before the rename

	dir    disk.Dir // folder of the file; the caller closes it
	file   disk.File
	swap   bool // dir is the swap folder
	synced bool
}

type Content struct {
	Data    []byte
	ModTime time.Time
	Mode    fs.FileMode

	// old is the file that the new file displaces. The new file gets the mode and, where permitted, the owner and the
	// extended attributes of old.
	old     disk.File
	oldInfo *disk.Info
}

// NewFile creates a temp file in dir, and syncs it. After an error no file remains.
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

// newTemp is NewFile without the sync. swap is set for a file in the swap folder.
func newTemp(dir disk.Dir, name string, c Content, swap bool) (*Temp, error) {
	file, err := dir.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // until the file has its owner
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
	if c.old != nil {
		if err := t.chown(c.oldInfo); err != nil && t.swap {
			return err // a folder may give its group to files that are made in it
		}
	}
	if _, err := t.file.WriteAt(c.Data, 0); err != nil {
		return err
	}
	mode := c.Mode
	if c.old != nil {
		mode = c.oldInfo.Mode
		t.file.CopyAttributes(c.old) // this must happen while the file is still writable
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

// sync makes a new file durable before it is renamed. Nothing changes the file after fill, so one sync is enough. If
// the disk does not make renames durable in order, sync also makes the temp name durable. Otherwise a save could be
// lost: a program may save to the file as soon as the file has a note's name, and if a power cut reverted the rename,
// the file would have no name.
func (s *Swapper) sync(t *Temp) error {
	if t.synced {
		return nil
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	if !t.dir.OrdersNames() {
		s.o.Syncs.SyncBestEffort(t.dir) // an error does not fail the save
	}
	t.synced = true
	return nil
}

// chown gives the file the owner and the group of the old file. Only root may change the owner; other users can set a
// group that they are in.
func (t *Temp) chown(old *disk.Info) error {
	if t.file.Chown(old.UID, old.GID) == nil {
		return nil
	}
	return t.file.Chown(-1, old.GID)
}

// Placed returns the stamp of the renamed file. If a program has changed the file since, it returns the stamp from
// before the rename, so that the stamp identifies our bytes or no file at all.
func (t *Temp) Placed() model.Stamp {
	info, err := t.file.Info()
	if now := vaultdir.StampOf(&info); err == nil && now.SameFile(t.Stamp) {
		return now
	}
	return t.Stamp
}

// Retract gives the file, which was renamed to name in its folder, its temp name again, so that Discard removes it. It
// does nothing if a program has changed or replaced the file.
func (t *Temp) Retract(name string) {
	info, err := t.dir.Stat(name)
	if now := vaultdir.StampOf(&info); err == nil && now.SameFile(t.Stamp) {
		_ = RenameNew(t.dir, name, t.dir, t.Name)
	}
}

// isChanged reports whether a program has written to the pre-image, which has the temp name.
func (t *Temp) isChanged() bool {
	name, tagged := parseTag(t.Name)
	info, err := t.dir.Stat(t.Name)
	return tagged && err == nil && info.Inode == name.pre.inode && !name.isPreImage(&info)
}

func (t *Temp) Discard() {
	t.file.Close()
	_ = t.dir.Remove(t.Name) // if this fails, the next process removes the file
}
