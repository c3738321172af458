package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"time"
)

// A state folder is named after the path of its vault. So that a vault keeps its state
// when it is moved or renamed, the folder records the directory: its path, its inode, and
// some of the names in it, since inodes are reused and vaults are copied. A state follows
// its vault only if all of that matches and nothing of it is at the old path any more. In
// every other case the owner prints a sentence and leaves the decision to a person (Adopt).

const identityName = "vault.json"

type identity struct {
	Vault  string   `json:"vault"` // its last path
	Device uint64   `json:"device"`
	Inode  uint64   `json:"inode"`
	Names  []string `json:"names"` // of some files and folders in it
}

const (
	mostNames   = 64 // enough to tell a vault from others
	mostFolders = 16 // folders that are searched for them
)

func identify(dir string) (identity, error) {
	st, err := os.Stat(dir)
	if err != nil {
		return identity{}, err
	}
	id := identity{Vault: dir, Names: []string{}}
	id.Device, id.Inode = inodeOf(st)
	folders := []string{""}
	for looked := 0; len(folders) > 0 && looked < mostFolders && len(id.Names) < mostNames; looked++ {
		folder := folders[0]
		folders = folders[1:]
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				continue // these are the same in all vaults
			}
			name := filepath.Join(folder, e.Name())
			if e.IsDir() {
				folders = append(folders, name)
			}
			if len(id.Names) < mostNames {
				id.Names = append(id.Names, name)
			}
		}
	}
	return id, nil
}

func (id identity) isSame(other identity) bool {
	return id.Inode != 0 && id.Inode == other.Inode && id.Device == other.Device
}

// likeness is the result of comparing the names in two directories.
type likeness int

const (
	unknown likeness = iota // one of them has none
	unlike
	alike
)

// likeness compares the vault with the present contents of other's directory. Half of
// the names may have changed.
func (id identity) likeness(other identity) likeness {
	if len(id.Names) == 0 || len(other.Names) == 0 {
		return unknown
	}
	found := 0
	for _, name := range id.Names {
		if _, err := os.Lstat(filepath.Join(other.Vault, name)); err == nil {
			found++
		}
	}
	if 2*found < len(id.Names) {
		return unlike
	}
	return alike
}

// isGone reports whether the vault has left its path: the directory there is another
// one, with other contents.
func (id identity) isGone() bool {
	now, err := identify(id.Vault)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !id.isSame(now) && id.likeness(now) != alike
}

// readIdentity returns the vault of a state folder; known is false for the folders of
// servers, and of older versions.
func readIdentity(state string) (id identity, known bool) {
	data, err := os.ReadFile(filepath.Join(state, identityName))
	return id, err == nil && json.Unmarshal(data, &id) == nil && id.Vault != ""
}

// remember records the vault of c.State. An empty directory does not replace an earlier
// record: it may be a mount point without its disk.
func remember(c Claim) error {
	now, err := identify(c.Vault)
	if err != nil {
		return nil // opening the vault reports it
	}
	was, known := readIdentity(c.State)
	if known && (len(now.Names) == 0 && len(was.Names) > 0 || reflect.DeepEqual(was, now)) {
		return nil
	}
	data, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(c.State, identityName), append(data, '\n'))
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

// StateOf returns the state folder of the vault in dir: own, which is named after its
// path, unless a running owner has another one, because the directory was renamed under
// it or has several paths.
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
		if there, err := identify(id.Vault); err == nil && there.isSame(now) || held(state) {
			return state
		}
	}
	return own
}

// held reports whether a running process owns a state folder.
func held(state string) bool {
	f, err := os.OpenFile(filepath.Join(state, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(flock(f, state), errHeld)
}

// settle ensures that c.State is the state of this vault.
func (o *Owner) settle(c Claim) error {
	now, err := identify(c.Vault)
	if err != nil {
		return nil // opening the vault reports it
	}
	if was, known := readIdentity(c.State); known && !was.isSame(now) && was.likeness(now) == unlike && !held(c.State) {
		aside, err := setAside(c.State)
		if err != nil {
			return err
		}
		o.tell("another vault was at %s: its authors, log and proposals are kept, and come back with it; if it is this one, end what serves it and run: "+
			"relayfs adopt %s %s", quoted(c.Vault), quoted(aside), quoted(c.Vault))
	}
	if _, err := os.Stat(c.State); err == nil {
		return nil
	}
	return o.adoptMoved(c, now)
}

// adoptMoved moves the state of the vault from its old place, if that is certain.
func (o *Owner) adoptMoved(c Claim, now identity) error {
	var certain, doubtful []string
	all := states(filepath.Dir(c.State))
	for state, id := range all {
		like := id.likeness(now)
		if !id.isSame(now) && like != alike || len(now.Names) == 0 || !id.isGone() || held(state) {
			continue
		}
		if id.isSame(now) && like == alike {
			certain = append(certain, state)
		} else {
			doubtful = append(doubtful, state)
		}
	}
	if len(certain) == 1 {
		if err := os.Rename(certain[0], c.State); err != nil {
			return fmt.Errorf("state folder: %w", err)
		}
		o.tell("vault %s was %s before: its authors, log and proposals are taken over", quoted(c.Vault), quoted(all[certain[0]].Vault))
		return nil
	}
	for _, state := range append(certain, doubtful...) {
		o.tell("%[1]s may be the vault that was %[2]s, whose authors, log and proposals are not used: if it is, end what serves it and run: "+
			"relayfs adopt %[3]s %[1]s", quoted(c.Vault), quoted(all[state].Vault), quoted(state))
	}
	return nil
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

// Within reports whether path is dir or lies in it.
func Within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// nested returns a NestedError if this vault and a served one lie inside each other.
func nested(c Claim) error {
	for state, id := range states(filepath.Dir(c.State)) {
		inside := id.Vault != c.Vault && (Within(id.Vault, c.Vault) || Within(c.Vault, id.Vault))
		if inside && state != c.State && held(state) {
			return &NestedError{c.Vault, id.Vault}
		}
	}
	return nil
}

// Adopt makes the state folder from the state of the vault in c, which nobody serves.
// It sets a previous state of that vault aside and returns its new name, "" if there
// was none.
func Adopt(from string, c Claim) (aside string, err error) {
	defer admit(filepath.Dir(c.State))()
	for _, state := range []string{from, c.State} {
		if held(state) {
			info, _ := Read(state)
			return "", &OwnedError{Vault: c.Vault, Name: c.name(), Owner: info}
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
	return aside, remember(c)
}

// admit lets one process at a time inspect and move the state folders in base.
func admit(base string) (done func()) {
	if os.MkdirAll(base, 0o700) != nil {
		return func() {} // creating the state folder reports it
	}
	f, err := os.OpenFile(filepath.Join(base, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(heir); errors.Is(tryLock(f), errHeld) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return func() { f.Close() }
}
