package owner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A state folder is named after the place of its vault. So that a vault which was
// moved or renamed has its state yet, the folder also says which directory the vault
// was: where, which inode, and some of the names in it, since inodes are used again
// and vaults are copied. A state goes with its vault only if all of that fits and
// nothing of it is at the old place any more. Whatever else may be is said, and left
// to a person (Adopt).

const identityName = "vault.json"

// identity is which directory a vault is.
type identity struct {
	Vault  string   `json:"vault"` // where it was last
	Device uint64   `json:"device"`
	Inode  uint64   `json:"inode"`
	Names  []string `json:"names"` // of some files and folders in it
}

const (
	// mostNames are as many names as tell a vault from others, and mostFolders as many
	// folders as are looked into for them.
	mostNames   = 64
	mostFolders = 16
)

// identify looks at the vault in dir.
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
				continue // those are the same in all vaults
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

// isSame says whether two are one directory.
func (id identity) isSame(other identity) bool {
	return id.Inode != 0 && id.Inode == other.Inode && id.Device == other.Device
}

// likeness is what the names in a directory say.
type likeness int

const (
	unknown likeness = iota // there are none, here or there
	unlike
	alike
)

// likeness compares the vault with what is in the directory of other now. Half of it
// may have been renamed since.
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

// isGone says whether the vault is no longer where it was: neither the directory nor
// one that holds the same.
func (id identity) isGone() bool {
	now, err := identify(id.Vault)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !id.isSame(now) && id.likeness(now) != alike
}

// readIdentity is of which vault the folder holds the state; known is false for the
// folders of servers, and of older versions.
func readIdentity(state string) (id identity, known bool) {
	data, err := os.ReadFile(filepath.Join(state, identityName))
	return id, err == nil && json.Unmarshal(data, &id) == nil && id.Vault != ""
}

// remember notes of which vault c.State is the state. An empty directory does not
// take the place of what is known: it may be one on which a disk is to be mounted.
func remember(c Claim) error {
	now, err := identify(c.Vault)
	if err != nil {
		return nil // it is said when the vault is opened
	}
	if was, known := readIdentity(c.State); known && len(now.Names) == 0 && len(was.Names) > 0 {
		return nil
	}
	data, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(c.State, identityName), append(data, '\n'))
}

// states are the state folders in base that know their vault.
func states(base string) map[string]identity {
	found := make(map[string]identity)
	entries, _ := os.ReadDir(base) // no folder, no states
	for _, e := range entries {
		state := filepath.Join(base, e.Name())
		if id, known := readIdentity(state); known {
			found[state] = id
		}
	}
	return found
}

// StateOf is the folder that has the state of the vault in dir: own, its own by its
// place, unless a running owner has it elsewhere, because the directory was renamed
// under it or has several paths.
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

// held says whether a process owns the state folder.
func held(state string) bool {
	f, err := os.OpenFile(filepath.Join(state, lockName), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(tryLock(f), errHeld)
}

// settle sees to it that c.State is the state of the vault, and nobody else's.
func (o *Owner) settle(c Claim) error {
	now, err := identify(c.Vault)
	if err != nil {
		return nil // it is said when the vault is opened
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

// adoptMoved takes over the state of the vault from its old place, if there is no
// doubt which that is.
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

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool { return !strings.ContainsRune("/._-+,:@%", r) && !isWord(r) }) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r > 0x7f
}

// setAside gives a state folder a name that is no vault's.
func setAside(state string) (string, error) {
	aside := state + "-" + time.Now().UTC().Format("20060102T150405.000")
	if err := os.Rename(state, aside); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	return aside, nil
}

// NestedError says that a vault lies in another one that is served.
type NestedError struct{ Vault, Other string }

func (e *NestedError) Error() string {
	return fmt.Sprintf("vaults %q and %q lie inside each other: their notes would be served twice", e.Vault, e.Other)
}

// Within says whether path is dir or lies in it.
func Within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// nested finds a vault that is served and lies inside this one, or this one in it.
func nested(c Claim) error {
	for state, id := range states(filepath.Dir(c.State)) {
		inside := id.Vault != c.Vault && (Within(id.Vault, c.Vault) || Within(c.Vault, id.Vault))
		if inside && state != c.State && held(state) {
			return &NestedError{c.Vault, id.Vault}
		}
	}
	return nil
}

// Adopt makes the state that is kept in from the state of the vault in c, which
// nobody serves. What was kept for that so far is set aside: that is returned, "" if
// there was nothing.
func Adopt(from string, c Claim) (aside string, err error) {
	defer admit(filepath.Dir(c.State))()
	for _, state := range []string{from, c.State} {
		if held(state) {
			info, _ := Read(state)
			return "", &OwnedError{Vault: c.Vault, Name: c.name(), Owner: info}
		}
	}
	if id, known := readIdentity(from); known && !id.isGone() && id.Vault != c.Vault {
		return "", fmt.Errorf("vault %q is still there, and keeps its state; a copy begins with one of its own", id.Vault)
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

// admit lets one process at a time look at the state folders in base and move them.
func admit(base string) (done func()) {
	if os.MkdirAll(base, 0o700) != nil {
		return func() {} // whoever makes his state folder finds out why
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
