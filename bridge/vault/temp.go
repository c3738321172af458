package vault

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge"
)

// temp is a complete new file beside the one it is to become, synced to disk.
type temp struct {
	dir   *os.File // not owned
	name  string
	file  *os.File
	stamp bridge.Stamp // before it is renamed
}

// newTemp writes data to a temp file of that name in dir. owner, if set, is whose mode and
// owner it gets; otherwise it gets mode. After an error no file is left.
func newTemp(dir *os.File, name string, data []byte, mode uint32, owner *unix.Stat_t, modTime time.Time) (*temp, error) {
	t := &temp{dir: dir, name: name}
	var err error
	t.file, err = openAt(int(dir.Fd()), t.name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := t.fill(data, mode, owner, modTime); err != nil {
		t.discard()
		return nil, err
	}
	return t, nil
}

func (t *temp) fill(data []byte, mode uint32, owner *unix.Stat_t, modTime time.Time) error {
	if _, err := t.file.Write(data); err != nil {
		return err
	}
	fd := int(t.file.Fd())
	if owner != nil {
		mode = owner.Mode
		// Only root may give files away: the file then belongs to who writes it.
		_ = unix.Fchown(fd, int(owner.Uid), int(owner.Gid))
	}
	if err := unix.Fchmod(fd, mode&0o7777); err != nil {
		return err
	}
	when := unix.NsecToTimespec(modTime.UnixNano())
	times := []unix.Timespec{when, when}
	if err := unix.UtimesNanoAt(int(t.dir.Fd()), t.name, times, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	st, err := statOf(t.file)
	t.stamp = stampOf(&st)
	return err
}

// placed is the stamp of the file after it was renamed. If somebody has changed
// it since, that is not to be seen in the stamp: it names our bytes, or nothing
// that is on the disk.
func (t *temp) placed() bridge.Stamp {
	st, err := statOf(t.file)
	if now := stampOf(&st); err == nil && sameContent(now, t.stamp) {
		return now
	}
	return t.stamp
}

// discard closes and removes the temp file.
func (t *temp) discard() {
	t.file.Close()
	_ = unix.Unlinkat(int(t.dir.Fd()), t.name, 0) // if it fails, the next start sweeps it
}
