package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A state folder is named after the path of its vault. It also records which directory that is, so that a vault keeps its
// state when it is moved or renamed on its disk. In every other case the owner prints a sentence and leaves the decision to
// the user (Adopt).

const identityName = "vault.json"

// identity identifies the directory of a vault.
type identity struct {
	Vault  string `json:"vault"` // its last path
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Born   int64  `json:"born,omitempty"` // ns since 1970; 0 if the file system does not say
}

func identify(dir string) (identity, error) {
	st, err := os.Stat(dir)
	if err != nil {
		return identity{}, err
	}
	id := identity{Vault: dir, Born: birthOf(dir)}
	id.Device, id.Inode = inodeOf(st)
	return id, nil
}

// isSame reports whether both are one directory. Disks reuse inodes, and some change their device number at each start: the
// birth time decides.
func (id identity) isSame(other identity) bool {
	if id.Inode == 0 || id.Inode != other.Inode {
		return false
	}
	if id.Born != 0 && other.Born != 0 {
		return id.Born == other.Born
	}
	return id.Device == other.Device
}

// isOther reports whether both are certainly different directories. Without a birth time that is unknown: FAT and sshfs
// renumber inodes at each mount.
func (id identity) isOther(other identity) bool {
	return id.Born != 0 && other.Born != 0 && id.Born != other.Born
}

// isGone reports whether the vault has left its path.
func (id identity) isGone() bool {
	now, err := identify(id.Vault)
	return errors.Is(err, fs.ErrNotExist) || err == nil && id.isOther(now)
}

// isEmpty reports whether a directory has only hidden files: it may be a mount point without its disk, and is not a vault yet.
func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") })
}

// readIdentity returns the vault of a state folder; known is false for the folders of servers.
func readIdentity(state string) (id identity, known bool) {
	data, err := os.ReadFile(filepath.Join(state, identityName))
	return id, err == nil && json.Unmarshal(data, &id) == nil && id.Vault != ""
}

// saveIdentity records the vault of c.State.
func saveIdentity(c LockRequest) error {
	now, err := identify(c.Vault)
	if err != nil {
		return nil // opening the vault reports it
	}
	if was, known := readIdentity(c.State); known && (was == now || isEmpty(c.Vault)) {
		return nil
	}
	data, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return Folder(c.State).Replace(identityName, append(data, '\n'))
}

// states returns the state folders in base that record their vault.
func states(base string) map[string]identity {
	found := make(map[string]identity)
	entries, _ := os.ReadDir(base) // without the folder there are no states
	for _, e := range entries {
		state := filepath.Join(base, e.Name())
		if id, known := readIdentity(state); known {
			found[state] = id
		}
	}
	return found
}

// StateOf returns the state folder of the vault in dir: own, which is named after its path, unless a running owner has
// another one, because the directory was renamed or has several paths.
func StateOf(own, dir string) string {
	if _, err := os.Stat(own); err == nil {
		return own
	}
	now, err := identify(dir)
	if err != nil {
		return own
	}
	for state, id := range states(filepath.Dir(own)) {
		if !id.isSame(now) {
			continue
		}
		if there, err := identify(id.Vault); err == nil && there.isSame(now) || isOwned(state) {
			return state
		}
	}
	return own
}

// isOwned reports whether a running process owns a state folder.
func isOwned(state string) bool {
	f, err := os.OpenFile(filepath.Join(state, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, state), errHeld)
}

// settle ensures that c.State is the state of this vault.
func (o *Owner) settle(c LockRequest) error {
	now, err := identify(c.Vault)
	if err != nil || isEmpty(c.Vault) {
		return nil // opening the vault reports it
	}
	if was, known := readIdentity(c.State); known && was.isOther(now) && !isOwned(c.State) {
		aside, err := setAside(c.State)
		if err != nil {
			return err
		}
		o.notice("another folder was at %s: its authors, log and proposals are kept, and come back with it; if this is the same vault, end what serves it and run: "+
			"relayfs adopt %s %s", quoted(c.Vault), quoted(aside), quoted(c.Vault))
		return o.followMoved(c, now, aside)
	}
	if _, err := os.Stat(c.State); err == nil {
		return nil
	}
	return o.followMoved(c, now, "")
}

// mostGone is how many states without a vault are named.
const mostGone = 3

// followMoved moves the state of the vault from its old place. Without one, it names the states whose vaults are gone,
// except for the one that was just set aside.
func (o *Owner) followMoved(c LockRequest, now identity, aside string) error {
	var gone []string
	all := states(filepath.Dir(c.State))
	newestFirst := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return lastUse(b).Compare(lastUse(a)) })
	for _, state := range newestFirst {
		id := all[state]
		if !id.isGone() || isOwned(state) {
			continue
		}
		if id.isSame(now) {
			if err := os.Rename(state, c.State); err != nil {
				return fmt.Errorf("state folder: %w", err)
			}
			o.notice("vault %s was %s before: its authors, log and proposals are taken over", quoted(c.Vault), quoted(id.Vault))
			return nil
		}
		if _, err := os.Stat(id.Vault); errors.Is(err, fs.ErrNotExist) && state != aside {
			gone = append(gone, state)
		}
	}
	for _, state := range gone[:min(mostGone, len(gone))] {
		o.notice("%[1]s has no authors, log and proposals, and the vault %[2]s that had some is gone: if it is the same vault, end what serves it and run: "+
			"relayfs adopt %[3]s %[1]s", quoted(c.Vault), quoted(all[state].Vault), quoted(state))
	}
	return nil
}

// lastUse returns when a process last locked or released a state folder.
func lastUse(state string) (t time.Time) {
	if st, err := os.Stat(state); err == nil {
		t = st.ModTime()
	}
	return t
}

// plainPath matches paths that a shell takes without quotes.
var plainPath = regexp.MustCompile(`^[\w/.+,:@%\x{80}-\x{10ffff}-]*$`)

func quoted(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// setAside renames a state folder so that it belongs to no vault.
func setAside(state string) (string, error) {
	aside := state + "-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(state, aside); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	return aside, nil
}

// NestedError is the error for a vault that lies in another served one.
type NestedError struct{ Vault, Other string }

func (e *NestedError) Error() string {
	return fmt.Sprintf("vaults %q and %q lie inside each other: their notes would be served twice", e.Vault, e.Other)
}

// IsWithin reports whether path is dir or lies in it.
func IsWithin(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// nested returns a NestedError if this vault and a served one lie inside each other.
func nested(c LockRequest) error {
	for state, id := range states(filepath.Dir(c.State)) {
		inside := id.Vault != c.Vault && (IsWithin(id.Vault, c.Vault) || IsWithin(c.Vault, id.Vault))
		if inside && state != c.State && isOwned(state) {
			return &NestedError{c.Vault, id.Vault}
		}
	}
	return nil
}

// Adopt turns the state folder from, which no process serves, into the state of the vault in c. It sets a previous state of
// that vault aside and returns its new name, "" for none.
func Adopt(from string, c LockRequest) (aside string, err error) {
	defer lockStateDirs(filepath.Dir(c.State))()
	for _, state := range []string{from, c.State} {
		if isOwned(state) {
			info, _ := Read(state)
			return "", &AlreadyServedError{Vault: c.Vault, Name: c.name(), Owner: info}
		}
	}
	if id, known := readIdentity(from); known && !id.isGone() && id.Vault != c.Vault {
		return "", fmt.Errorf("vault %q is still there and keeps its state; a copy starts with a new one", id.Vault)
	}
	if _, err := os.Stat(from); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	if _, err := os.Stat(c.State); err == nil {
		if aside, err = setAside(c.State); err != nil {
			return "", err
		}
	}
	if err := os.Rename(from, c.State); err != nil {
		return aside, fmt.Errorf("state folder: %w", err)
	}
	return aside, saveIdentity(c)
}

// lockStateDirs lets one process at a time inspect and move the state folders in base.
func lockStateDirs(base string) (done func()) {
	if os.MkdirAll(base, 0o700) != nil {
		return func() {} // creating the state folder reports it
	}
	f, err := os.OpenFile(filepath.Join(base, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(lockRetryWait); errors.Is(tryLock(f), errHeld) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return func() { f.Close() }
}
