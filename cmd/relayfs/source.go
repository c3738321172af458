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
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// source is one Folder to serve: a local vault, or a shared folder of a server.
type source struct {
	name   string        // of the Folder
	dir    string        // of a vault: absolute, symlinks resolved
	server *serverFolder // of a server's folder
}

// String is the source as NAME=DIR, or as ADDRESS#NAME=ID.
func (s source) String() string {
	if s.server != nil {
		return fmt.Sprintf("%s#%s=%s", s.server.address, s.name, s.server.folder)
	}
	return s.name + "=" + s.dir
}

var serverScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// parseSources reads the SOURCE arguments: DIR or NAME=DIR, or the address of a
// server, whose folders are named by folders, NAME=ID each.
func parseSources(args, folders []string) ([]source, error) {
	var sources []source
	for _, arg := range args {
		list, err := parseSource(arg, folders)
		if err != nil {
			return nil, err
		}
		sources = append(sources, list...)
	}
	for i, s := range sources {
		if slices.ContainsFunc(sources[:i], func(t source) bool { return t.place() == s.place() }) {
			return nil, clierr.Usagef("%s is given twice", s.place())
		}
		for _, t := range sources[:i] {
			if s.server == nil && t.server == nil && (owner.Within(s.dir, t.dir) || owner.Within(t.dir, s.dir)) {
				return nil, &owner.NestedError{Vault: s.dir, Other: t.dir}
			}
		}
	}
	if len(folders) > 0 && !slices.ContainsFunc(sources, func(s source) bool { return s.server != nil }) {
		return nil, clierr.Usagef("--folder %s names a folder of a server, but no SOURCE is the address of one", folders[0])
	}
	return sources, nil
}

// place says where the source is, whatever it is called here.
func (s source) place() string {
	if s.server != nil {
		return fmt.Sprintf("folder %q of %s", s.server.folder, s.server.address)
	}
	return fmt.Sprintf("vault %q", s.dir)
}

func parseSource(arg string, folders []string) ([]source, error) {
	if serverScheme.MatchString(arg) {
		return parseServer(arg, folders)
	}
	s, err := parseVault(arg)
	return []source{s}, err
}

func parseVault(arg string) (source, error) {
	name, dir := "", arg
	if before, after, ok := strings.Cut(arg, "="); ok && !exists(arg) {
		name, dir = before, after
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return source{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return source{}, clierr.WithHint(fmt.Errorf("vault %q does not exist", dir), "give the directory that Obsidian opens as a vault")
	}
	if err != nil {
		return source{}, err
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return source{}, clierr.WithHint(fmt.Errorf("vault %q is not a directory", dir), "give the directory that Obsidian opens as a vault")
	}
	if name == "" {
		name = filepath.Base(abs)
	}
	if err := bridge.CheckName(name); err != nil {
		return source{}, clierr.Usagef("folder name %q: %v; name it with NAME=DIR", name, err)
	}
	return source{name: name, dir: real}, nil
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
		return "", clierr.WithHint(err, "set HOME, or name a folder with --state")
	}
	return filepath.Join(home, ".local", "state", "relayfs"), nil
}

// vaultsDir holds one state folder per vault.
func vaultsDir(state string) string { return filepath.Join(state, "vaults") }

// state is the source's state folder.
func (s source) state(base string) string {
	if s.server != nil {
		return s.ownState(base)
	}
	return owner.StateOf(s.ownState(base), s.dir)
}

// ownState is named after the vault or server for people, and after its place so that
// two never share one.
func (s source) ownState(base string) string {
	name, place := filepath.Base(s.dir), s.dir
	if s.server != nil {
		name, place = strings.ReplaceAll(s.server.address.URL.Host, ":", "_"), s.place()
	}
	sum := sha256.Sum256([]byte(place))
	return filepath.Join(vaultsDir(base), name+"-"+hex.EncodeToString(sum[:6]))
}
