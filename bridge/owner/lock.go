package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

type Info struct {
	PID        int       `json:"pid"`
	Command    string    `json:"command"` // "mount", "mcp", ...
	Mountpoint string    `json:"mountpoint,omitempty"`
	Sources    []string  `json:"sources"`
	Socket     string    `json:"socket"`
	Started    time.Time `json:"started"`
	Version    string    `json:"version"`
	Log        string    `json:"log,omitempty"`  // path of its log file, "" if it logs to stderr
	Config     string    `json:"config"`         // its configuration file, which may be missing
	ConfigSum  string    `json:"configSum"`      // a sum of that file's content at the start, "" if it was missing
	HTTP       *HTTP     `json:"http,omitempty"` // nil if it serves no port
	// HandoverStarted is the time when the owner began to hand over, or zero. Clients wait for the next owner.
	HandoverStarted time.Time `json:"handedOver,omitzero"`
}

type HTTP struct {
	URL       string `json:"url"`
	TokenFile string `json:"tokenFile"` // file with the bearer token; readable only by its user
}

func (i Info) String() string {
	s := fmt.Sprintf("relayfs %s (pid %d)", i.Command, i.PID)
	if i.Mountpoint != "" {
		s += " at " + i.Mountpoint
	}
	return s
}

type AlreadyServedError struct {
	Name  string // name in the LockRequest
	Owner *Info  // nil if unknown
	// Unreachable reports that the other process has the same state folder, but serves no socket: it is a command that
	// works without an owner, or it is starting or ending.
	Unreachable bool
}

func (e *AlreadyServedError) Error() string {
	switch {
	case e.Unreachable && e.Owner == nil:
		return e.Name + " is in use by another relayfs command"
	case e.Unreachable:
		return fmt.Sprintf("%s is still in use by %v, which is ending", e.Name, *e.Owner)
	case e.Owner == nil:
		return e.Name + " is served by another relayfs process that has another state folder"
	}
	return fmt.Sprintf("%s is already served by %v", e.Name, *e.Owner)
}

// LockRequest names a state folder and the directory of its vault; Vault is "" for a server folder. Name is for
// messages; the default contains the path of the directory.
type LockRequest struct{ Vault, State, Name string }

func (c LockRequest) name() string {
	if c.Name != "" {
		return c.Name
	}
	return fmt.Sprintf("vault %q", c.Vault)
}

type Owner struct {
	Notices []string // messages to the user about moved states

	claims []LockRequest
	locks  []*os.File
	made   []LockRequest // requests whose state folder was missing

	mu   sync.Mutex // guards the field below
	info Info       // the last announcement
}

const (
	lockName = "lock"
	infoName = "owner.json"
)

// Acquire takes all locks of claims or none. If another process has one of the locks, the error is an
// *AlreadyServedError. Acquire waits for a process that serves no socket, because it usually ends or serves one soon. It
// creates missing state folders.
func Acquire(claims []LockRequest) (*Owner, error) {
	for end := time.Now().Add(lockRetryWait); ; time.Sleep(time.Millisecond) {
		o := &Owner{claims: claims}
		err := o.lockAll()
		if err == nil {
			return o, nil
		}
		o.Release()
		if owned, ok := errors.AsType[*AlreadyServedError](err); !ok || !owned.Unreachable || time.Now().After(end) {
			return nil, err
		}
	}
}

func (o *Owner) lockAll() error {
	for _, c := range o.claims {
		if err := o.lock(c); err != nil {
			return err
		}
	}
	return nil
}

func (o *Owner) notice(format string, args ...any) {
	o.Notices = append(o.Notices, fmt.Sprintf(format, args...))
}

// lock takes the locks of a claim. It runs under lockStateDirs, so that each process sees the claims of the processes
// before it.
func (o *Owner) lock(c LockRequest) error {
	defer lockStateDirs(filepath.Dir(c.State))()
	if c.Vault != "" {
		if err := nested(c); err != nil {
			return err
		}
		if err := o.settle(c); err != nil {
			return err
		}
	}
	_, missing := os.Stat(c.State)
	if err := os.MkdirAll(c.State, 0o700); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	if missing != nil {
		o.made = append(o.made, c)
	}
	f, err := os.OpenFile(filepath.Join(c.State, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	o.locks = append(o.locks, f)
	if err := flock(f, c.State); err != nil {
		err = ownedBy(c, err)
		if owned, ok := errors.AsType[*AlreadyServedError](err); ok {
			owned.Unreachable = owned.Owner == nil || !IsReachable(*owned.Owner)
		}
		return err
	}
	if c.Vault == "" {
		return nil
	}
	dir, err := os.Open(c.Vault)
	if err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	o.locks = append(o.locks, dir)
	if err := flock(dir, c.State); err != nil {
		return ownedBy(c, err)
	}
	if err := saveIdentity(c); err != nil {
		o.notice("cannot record the location of vault %s: %v; fix this before you move the vault, or relayfs will not find its data", ShellWord(c.Vault), err)
	}
	return nil
}

var errHeld = errors.New("locked by another process")

// lockRetryWait is the maximum wait for a lock whose owner is dead, or serves no socket. A child process that a
// dead owner was starting may hold copies of the owner's files for a short time.
const lockRetryWait = 10 * time.Second

func flock(f *os.File, state string) error {
	err := tryLock(f)
	for end := time.Now().Add(lockRetryWait); errors.Is(err, errHeld) && ownerIsDead(state) && time.Now().Before(end); err = tryLock(f) {
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("lock %q: %w", f.Name(), err)
	}
	return nil
}

func ownerIsDead(state string) bool {
	info, err := Read(state)
	return err == nil && info.HandoverStarted.IsZero() && Ended(info.PID)
}

func ownedBy(c LockRequest, err error) error {
	if !errors.Is(err, errHeld) {
		return err
	}
	info, _ := Read(c.State)
	return &AlreadyServedError{Name: c.name(), Owner: info}
}

// Announce publishes info in all state folders. If it fails, the locks are still held, but clients may not find the
// owner; call AnnounceAgain later.
func (o *Owner) Announce(info Info) error {
	return o.announce(func(i *Info) { *i = info })
}

func (o *Owner) AnnounceAgain() error { return o.announce(func(*Info) {}) }

// HandOver announces a handover. The announcement stays after Release until the next owner replaces it.
func (o *Owner) HandOver() error {
	return o.announce(func(i *Info) { i.HandoverStarted = time.Now().UTC() })
}

func (o *Owner) announce(change func(*Info)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	change(&o.info)
	data, err := json.MarshalIndent(o.info, "", "  ")
	if err != nil {
		return err
	}
	for _, c := range o.claims {
		err := Folder(c.State).Replace(infoName, append(data, '\n'))
		if err != nil { // even on a full disk, overwriting the last owner's file needs no new space
			err = overwriteFile(filepath.Join(c.State, infoName), append(data, '\n'))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// overwriteFile writes to an existing file. Readers may see a partial write.
func overwriteFile(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Truncate(int64(len(data)))
	}
	return errors.Join(err, f.Close())
}

func (o *Owner) Release() {
	for _, c := range o.claims {
		if info, err := Read(c.State); err == nil && info.PID == os.Getpid() && info.HandoverStarted.IsZero() {
			os.Remove(filepath.Join(c.State, infoName))
		}
	}
	for _, f := range slices.Backward(o.locks) { // the lock of a state folder after that of its vault, as lock takes them
		f.Close()
	}
	o.locks = nil
}

// Forget does the same as Release, and removes the state folders that this owner created. It is for an owner that has
// stored no data.
func (o *Owner) Forget() {
	var bases []string
	for _, c := range o.made {
		if base := filepath.Dir(c.State); !slices.Contains(bases, base) {
			bases = append(bases, base)
			defer lockStateDirs(base)() // prevents locks on a folder that is about to be removed
		}
	}
	o.Release()
	for _, c := range o.made {
		os.RemoveAll(c.State)
	}
}

// Read returns the last announcement in a state folder. Its owner may have ended.
func Read(state string) (*Info, error) {
	data, err := os.ReadFile(filepath.Join(state, infoName))
	if err != nil {
		return nil, err
	}
	var info Info
	if err := json.Unmarshal(data, &info); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(state, infoName), err)
	}
	return &info, nil
}

func Running(base string) ([]Info, error) {
	entries, err := os.ReadDir(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var live []Info
	seen := make(map[string]bool)
	for _, e := range entries {
		info, err := Read(filepath.Join(base, e.Name()))
		if err != nil || seen[info.Socket] || !strings.HasPrefix(info.Socket, "/") || !IsReachable(*info) {
			continue
		}
		seen[info.Socket] = true
		live = append(live, *info)
	}
	return live, nil
}
