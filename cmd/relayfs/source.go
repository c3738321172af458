package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge"
)

// vaultSource is one SOURCE argument: a local vault.
type vaultSource struct {
	name string // of the Folder
	dir  string // absolute, symlinks resolved
}

// String is the source as NAME=DIR.
func (s vaultSource) String() string { return s.name + "=" + s.dir }

var serverScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// parseSources reads the SOURCE arguments: DIR or NAME=DIR.
func parseSources(args []string) ([]vaultSource, error) {
	sources := make([]vaultSource, len(args))
	for i, arg := range args {
		s, err := parseSource(arg)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(sources[:i], func(t vaultSource) bool { return t.dir == s.dir }) {
			return nil, usagef("vault %q is given twice", s.dir)
		}
		sources[i] = s
	}
	return sources, nil
}

func parseSource(arg string) (vaultSource, error) {
	if serverScheme.MatchString(arg) {
		return vaultSource{}, usagef("SOURCE %q is a server: this version serves local vaults only", arg)
	}
	name, dir := "", arg
	if before, after, ok := strings.Cut(arg, "="); ok && !exists(arg) {
		name, dir = before, after
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return vaultSource{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return vaultSource{}, &hintError{fmt.Errorf("vault %q does not exist", dir), "give the directory that Obsidian opens as a vault"}
	}
	if err != nil {
		return vaultSource{}, err
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return vaultSource{}, &hintError{fmt.Errorf("vault %q is not a directory", dir), "give the directory that Obsidian opens as a vault"}
	}
	if name == "" {
		name = filepath.Base(abs)
	}
	if err := bridge.CheckName(name); err != nil {
		return vaultSource{}, usagef("folder name %q: %v; name it with NAME=DIR", name, err)
	}
	return vaultSource{name, real}, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// stateDir is where relayfs keeps what is not in the vaults.
func stateDir(flag string) (string, error) {
	if flag != "" {
		return filepath.Abs(flag)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "relayfs"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", &hintError{err, "set HOME, or name a folder with --state"}
	}
	return filepath.Join(home, ".local", "state", "relayfs"), nil
}

// vaultsDir holds one state folder per vault.
func vaultsDir(state string) string { return filepath.Join(state, "vaults") }

// state is the vault's state folder: named after the vault for people, and after
// its path so that two vaults never share one.
func (s vaultSource) state(base string) string {
	sum := sha256.Sum256([]byte(s.dir))
	return filepath.Join(vaultsDir(base), filepath.Base(s.dir)+"-"+hex.EncodeToString(sum[:6]))
}
