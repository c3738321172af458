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
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/disk"
)

// A state folder is named after the path of its vault. It also records the identity of the directory, so that a vault
// keeps its state when the user moves or renames it on its disk. In other cases the user decides (Adopt); Owner.Notices
// has hints.

const identityName = "vault.json"

type identity struct {
	Vault  string `json:"vault"` // last known path
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	Born   int64  `json:"born,omitempty"` // Unix nanoseconds; 0 if the file system does not record it
}

func identify(dir string) (identity, error) {
	d, err := disk.OS{}.OpenRoot(dir)
	if err != nil {
		return identity{}, err
	}
	defer d.Close()
	info, err := d.Info()
	return identity{Vault: dir, Device: info.Device, Inode: info.Inode, Born: info.Birth}, err
}

// isSame reports whether two identities belong to the same directory. Disks reuse inode numbers, and some disks get
// another device number at each boot. In these cases the time of birth decides.
func (id identity) isSame(other identity) bool {
	if id.Inode == 0 || id.Inode != other.Inode {
		return false
	}
	if id.Born != 0 && other.Born != 0 {
		return id.Born == other.Born
	}
	return id.Device == other.Device
}

// isOther reports whether two identities certainly belong to different directories. It needs their times of birth,
// because FAT and sshfs renumber inodes at each mount.
func (id identity) isOther(other identity) bool {
	return id.Born != 0 && other.Born != 0 && id.Born != other.Born
}

func (id identity) isGone() bool {
	now, err := identify(id.Vault)
	return errors.Is(err, fs.ErrNotExist) || err == nil && id.isOther(now)
}

// isEmpty reports whether all names in a directory begin with a dot. Such a directory does not count as a vault,
// because it may be a mount point whose disk is not mounted.
func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), ".") })
}

func readIdentity(state string) (id identity, ok bool) {
	data, err := os.ReadFile(filepath.Join(state, identityName))
	return id, err == nil && json.Unmarshal(data, &id) == nil && id.Vault != ""
}

func saveIdentity(c LockRequest) error {
	now, err := identify(c.Vault)
	if err != nil {
		return nil // opening the vault will report this error
	}
	if !utf8.ValidString(c.Vault) { // JSON would have another path, at which no vault is
		return nil
	}
	if stored, ok := readIdentity(c.State); ok && (stored == now || isEmpty(c.Vault)) {
		return nil
	}
	data, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return Folder(c.State).Replace(identityName, append(data, '\n'))
}

func states(base string) map[string]identity {
	found := make(map[string]identity)
	entries, _ := os.ReadDir(base) // without the folder there are no states
	for _, e := range entries {
		state := filepath.Join(base, e.Name())
		if id, ok := readIdentity(state); ok {
			found[state] = id
		}
	}
	return found
}

// StateOf returns the state folder of the vault in dir. This is own, the folder that is named after the path, if own
// exists. Otherwise it may be a folder that is named after another path of the same directory, for example the path
// before a rename.
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
		return nil // opening the vault will report this error
	}
	if stored, ok := readIdentity(c.State); ok && stored.isOther(now) && !isOwned(c.State) {
		aside, err := setAside(c.State)
		if err != nil {
			return err
		}
		o.notice("another folder was at %s: relayfs keeps the authors, log and proposals of that folder and will use them when the folder is back; if this is the same vault, stop the relayfs that serves it and run: "+
			"relayfs adopt %s %s", ShellWord(c.Vault), ShellWord(aside), ShellWord(c.Vault))
		return o.followMoved(c, now, aside)
	}
	if _, err := os.Stat(c.State); err == nil {
		return nil
	}
	return o.followMoved(c, now, "")
}

// A start of a new vault names at most mostGone vaults that are gone, and none that was last used before maxGone: later, a
// new vault is hardly the one that is gone.
const (
	mostGone = 3
	maxGone  = 90 * 24 * time.Hour
)

// followMoved renames the state folder of the vault's old path to c.State. If there is no such folder, it adds notices
// about states whose vaults no longer exist. It omits aside, the state that was just set aside.
func (o *Owner) followMoved(c LockRequest, now identity, aside string) error {
	var deleted []string
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
			o.notice("vault %s was previously at %s: it keeps its authors, log and proposals", ShellWord(c.Vault), ShellWord(id.Vault))
			return nil
		}
		if _, err := os.Stat(id.Vault); errors.Is(err, fs.ErrNotExist) && state != aside && time.Since(lastUse(state)) < maxGone {
			deleted = append(deleted, state)
		}
	}
	for _, state := range deleted[:min(mostGone, len(deleted))] {
		o.notice("%[1]s has no authors, log or proposals, and the vault %[2]s, which had them, is gone: if it is the same vault, stop the relayfs that serves it and run: "+
			"relayfs adopt %[3]s %[1]s", ShellWord(c.Vault), ShellWord(all[state].Vault), ShellWord(state))
	}
	return nil
}

func lastUse(state string) (t time.Time) {
	if st, err := os.Stat(state); err == nil {
		t = st.ModTime()
	}
	return t
}

// plainWord matches words that need no quotes in a shell.
var plainWord = regexp.MustCompile(`^[\pL\pN_./=@:+-][\pL\pN_./=@:+~-]*$`)

// ShellWord quotes a word of a command that users are told to run.
func ShellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// setAside renames a state folder so that no vault uses it.
func setAside(state string) (string, error) {
	aside := state + "-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(state, aside); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	return aside, nil
}

// NestedError is the error for a vault that is inside another served vault, or that contains one.
type NestedError struct{ Vault, Other string }

func (e *NestedError) Error() string {
	return fmt.Sprintf("one of the vaults %q and %q is inside the other: its notes would be served twice", e.Vault, e.Other)
}

func IsWithin(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// nested returns an error if the notes of the vault would be served twice: with those of another served vault, or from the
// mount that shows them.
func nested(c LockRequest) error {
	for state, id := range states(filepath.Dir(c.State)) {
		inside := id.Vault != c.Vault && (IsWithin(id.Vault, c.Vault) || IsWithin(c.Vault, id.Vault))
		if inside && state != c.State && isOwned(state) {
			return &NestedError{c.Vault, id.Vault}
		}
		if info, err := Read(state); err == nil && info.Mountpoint != "" && IsWithin(info.Mountpoint, c.Vault) && isOwned(state) {
			return &AlreadyServedError{Name: c.name(), Owner: info}
		}
	}
	return nil
}

// Adopt makes an existing state folder the state of the vault in c. from is the path of that folder, which no process
// may serve. If the vault has a state already, Adopt sets it aside and returns its new name; otherwise aside is "".
func Adopt(from string, c LockRequest) (aside string, err error) {
	if from == c.State {
		return "", fmt.Errorf("%s has that data already", c.name())
	}
	defer lockStateDirs(filepath.Dir(c.State))()
	for _, state := range []string{from, c.State} {
		if isOwned(state) {
			info, _ := Read(state)
			return "", &AlreadyServedError{Name: c.name(), Owner: info}
		}
	}
	if id, ok := readIdentity(from); ok && !id.isGone() && id.Vault != c.Vault {
		return "", fmt.Errorf("vault %q still exists and keeps its state; a copy of it starts with empty state", id.Vault)
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

// lockStateDirs ensures that only one process at a time inspects and moves the state folders in base. It gives up after
// lockRetryWait.
func lockStateDirs(base string) (done func()) {
	if os.MkdirAll(base, 0o700) != nil {
		return func() {} // creating the state folder will report this error
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
