package disktest

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/relayfs/relayfs/bridge/disk"
)

// ErrKilled is what every call of a process fails with that was killed.
var ErrKilled = errors.New("the process has been killed")

// Volume is a disk of the machine.
type Volume struct {
	Path        string // absolute: the folder that is the disk's root
	OrdersNames bool   // see the package's documentation
	NoExchange  bool   // it knows neither Exchange nor RenameNew
	NoLinks     bool   // files have one name
	NoLeases    bool
	ReadOnly    bool
}

// Call is a call that changes something on a disk, or what a power cut leaves there.
type Call struct {
	N     int    // the first one is 1
	Op    string // the method, in lower case; "create" and "empty" for Open
	Path  string
	Other string // where a rename leads
}

func (c Call) String() string {
	return strings.TrimSpace(fmt.Sprintf("%3d %s %s %s", c.N, c.Op, c.Path, c.Other))
}

// Disk is the machine. Its methods, and those of its folders and files, may be called from several
// goroutines.
type Disk struct {
	mu      sync.Mutex // protects the following, and all inodes
	volumes []*volume
	clock   func() time.Time
	last    int64 // the time that was given out last
	inodes  uint64
	before  func(Call) error
	calls   []Call
}

// volume is a Volume and what it holds.
type volume struct {
	Volume
	device  uint64
	root    *inode
	journal []change // what was not synced, oldest first
}

// New makes a machine with empty disks. clock is the time of changes, which are a nanosecond apart at
// least; nil is a clock of its own, which stands still except for that.
func New(clock func() time.Time, volumes ...Volume) *Disk {
	if clock == nil {
		clock = func() time.Time { return time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) }
	}
	d := &Disk{clock: clock}
	for i, v := range volumes {
		vol := &volume{Volume: v, device: uint64(i + 1)}
		vol.root = d.newInode(vol, folderMode|0o755)
		vol.root.links, vol.root.parent = 2, vol.root
		d.volumes = append(d.volumes, vol)
	}
	// The longest path that fits is a name's.
	slices.SortStableFunc(d.volumes, func(a, b *volume) int { return len(b.Path) - len(a.Path) })
	return d
}

// Before has fn called before each call that changes something. If fn returns an error, the
// call returns that and does nothing. fn may use the machine: as a user, or to keep states of
// it.
func (d *Disk) Before(fn func(Call) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = fn
}

// Kill has call number n and every later one fail with ErrKilled.
func (d *Disk) Kill(n int) { d.Before(killAt(n)) }

func killAt(n int) func(Call) error {
	return func(c Call) error {
		if c.N >= n {
			return ErrKilled
		}
		return nil
	}
}

// Fail has call number n fail, once.
func (d *Disk) Fail(n int, err error) {
	d.Before(func(c Call) error {
		if c.N == n {
			return err
		}
		return nil
	})
}

// Calls is the log of the calls that have changed something, or would have if they had not failed.
func (d *Disk) Calls() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// call notes a call and says why it is not to be done, if so. Neither mu is held nor a descriptor
// closed meanwhile.
func (d *Disk) call(u user, op string, at *inode, name string, other ...string) error {
	d.mu.Lock()
	if u == person {
		d.mu.Unlock()
		return at.writable()
	}
	c := Call{N: len(d.calls) + 1, Op: op, Path: at.path(name), Other: strings.Join(other, " ")}
	d.calls = append(d.calls, c)
	before := d.before
	d.mu.Unlock()
	if before != nil {
		if err := before(c); err != nil {
			return err
		}
	}
	return at.writable()
}

// user is who makes a call.
type user bool

const (
	process user = false // whom Before is told of
	person  user = true
)

func (n *inode) writable() error {
	if n.vol.ReadOnly {
		return syscall.EROFS
	}
	return nil
}

// now is the time of a change. mu is held.
func (d *Disk) now() int64 {
	d.last = max(d.clock().UnixNano(), d.last+1)
	return d.last
}

// OpenRoot opens a folder.
func (d *Disk) OpenRoot(path string) (disk.Dir, error) { return d.openRoot(process, path) }

func (d *Disk) openRoot(u user, path string) (*dir, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(path)
	if err != nil {
		return nil, err
	}
	if !n.isDir() {
		return nil, syscall.ENOTDIR
	}
	return &dir{d: d, n: n, user: u}, nil
}

// find is what is at a path. mu is held.
func (d *Disk) find(at string) (*inode, error) {
	v, rel := d.volume(at)
	if v == nil {
		return nil, syscall.ENOENT
	}
	n := v.root
	for elem := range strings.SplitSeq(rel, "/") {
		if elem == "" {
			continue
		}
		if !n.isDir() {
			return nil, syscall.ENOTDIR
		}
		if n = n.names[elem]; n == nil {
			return nil, syscall.ENOENT
		}
	}
	return n, nil
}

// volume is the one that a path is on, and the path there.
func (d *Disk) volume(at string) (*volume, string) {
	at = path.Clean(at)
	for _, v := range d.volumes {
		if rest, ok := strings.CutPrefix(at, v.Path); ok && (rest == "" || rest[0] == '/' || v.Path == "/") {
			return v, rest
		}
	}
	return nil, ""
}

// MakeRoot opens a folder, and makes it and its parents if they are missing.
func (d *Disk) MakeRoot(at string) (disk.Dir, error) { return d.makeRoot(process, at) }

func (d *Disk) makeRoot(u user, at string) (*dir, error) {
	root, err := d.openRoot(u, at)
	if !errors.Is(err, syscall.ENOENT) {
		return root, err
	}
	up, err := d.makeRoot(u, path.Dir(at))
	if err != nil {
		return nil, err
	}
	defer up.Close()
	if err := up.mkdir(path.Base(at), 0o700); err != nil && !errors.Is(err, syscall.EEXIST) {
		return nil, err
	}
	return d.openRoot(u, at)
}

// ReadBelow reads a file below the folder root.
func (d *Disk) ReadBelow(root, rel string) (data []byte, rootInfo, before, after disk.Info, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.find(root)
	if err == nil && !n.isDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, rootInfo, before, after, err
	}
	rootInfo = n.info()
	if path.IsAbs(rel) {
		return nil, rootInfo, before, after, syscall.EXDEV
	}
	for elem := range strings.SplitSeq(rel, "/") {
		if n, err = n.lookup(elem); err == nil && n.isLink() {
			err = syscall.ELOOP
		}
		if err != nil {
			return nil, rootInfo, before, after, err
		}
	}
	data, before, after = n.read()
	return data, rootInfo, before, after, nil
}

// ReadOnly says whether the disk that a path is on is mounted read-only.
func (d *Disk) ReadOnly(path string) bool {
	v, _ := d.volume(path)
	return v != nil && v.ReadOnly
}

var _ disk.Disk = (*Disk)(nil)
