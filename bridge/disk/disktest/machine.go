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

// ErrKilled is the error of each Call that a killed process makes.
var ErrKilled = errors.New("the process has been killed")

type Volume struct {
	Path        string // absolute path of the folder that is the disk's root
	OrdersNames bool   // see "After a power cut" in the package documentation
	NoExchange  bool   // the volume supports neither Exchange nor RenameNew
	NoLinks     bool   // the volume has no hard links
	NoLeases    bool
}

// Call describes a call that changes a disk, or that changes what a power cut would leave on it, such as a sync.
type Call struct {
	N     int    // number of the call, from 1
	Op    string // the method, in lower case; "create" and "empty" for Open
	Path  string
	Other string // the second name of a call with two names, or the time of "set times"
}

func (c Call) String() string {
	return strings.TrimSpace(fmt.Sprintf("%3d %s %s %s", c.N, c.Op, c.Path, c.Other))
}

// Disk is a simulated machine. Disk and its folders and files are safe for concurrent use.
type Disk struct {
	mu      sync.Mutex // guards the fields below, and all inodes
	volumes []*volume
	clock   func() time.Time
	last    int64 // time of the last change
	inodes  uint64
	before  func(Call) error
	calls   []Call
}

type volume struct {
	Volume
	device  uint64
	root    *inode
	journal []change // unsynced changes, oldest first
}

// New returns a machine with empty disks. clock returns the time of each change. Changes are at least a nanosecond
// apart. If clock is nil, the time starts at a fixed date and advances by one nanosecond per change.
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
	// A path belongs to the volume with the longest matching Path.
	slices.SortStableFunc(d.volumes, func(a, b *volume) int { return len(b.Path) - len(a.Path) })
	return d
}

// Before sets a function that runs before each Call. If fn returns an error, the call has no effect and returns that
// error. fn may use the machine, for example to act as a user or to copy its state.
func (d *Disk) Before(fn func(Call) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before = fn
}

// Kill makes call number n and every later call fail with ErrKilled.
func (d *Disk) Kill(n int) {
	d.Before(func(c Call) error {
		if c.N >= n {
			return ErrKilled
		}
		return nil
	})
}

// Calls returns the log of all Calls, including failed Calls.
func (d *Disk) Calls() []Call {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// call logs a call and returns the error of Before. The caller must not hold mu.
func (d *Disk) call(u user, op string, at *inode, name string, other ...string) error {
	d.mu.Lock()
	if u == person {
		d.mu.Unlock()
		return nil
	}
	c := Call{N: len(d.calls) + 1, Op: op, Path: at.path(name), Other: strings.Join(other, " ")}
	d.calls = append(d.calls, c)
	before := d.before
	d.mu.Unlock()
	if before != nil {
		return before(c)
	}
	return nil
}

type user bool

const (
	process user = false // the calls of the process trigger Before
	person  user = true
)

// now returns the time of a change. The caller holds mu.
func (d *Disk) now() int64 {
	d.last = max(d.clock().UnixNano(), d.last+1)
	return d.last
}

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

// volume returns the volume of a path, and the path on it.
func (d *Disk) volume(at string) (*volume, string) {
	at = path.Clean(at)
	for _, v := range d.volumes {
		if rest, ok := strings.CutPrefix(at, v.Path); ok && (rest == "" || rest[0] == '/' || v.Path == "/") {
			return v, rest
		}
	}
	return nil, ""
}

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

func (d *Disk) ReadOnly(string) bool { return false }

var _ disk.Disk = (*Disk)(nil)
