// Package source reads the SOURCE arguments of commands: what a Folder is made of, a local
// vault or a shared folder of a server, and where relayfs keeps what belongs to it. It opens
// none of them.
package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// Source is one Folder to serve: a local vault, or a shared folder of a server.
type Source struct {
	Name   string        // of the Folder
	Dir    string        // of a vault: absolute, symlinks resolved
	Server *ServerFolder // of a server's folder
}

// String is the source as NAME=DIR, or as ADDRESS#NAME=ID.
func (s Source) String() string {
	if s.Server != nil {
		return fmt.Sprintf("%s#%s=%s", s.Server.Address, s.Name, s.Server.Folder)
	}
	return s.Name + "=" + s.Dir
}

var serverScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// Parse reads the SOURCE arguments: DIR or NAME=DIR, or the address of a
// server, whose folders are named by folders, NAME=ID each.
func Parse(args, folders []string) ([]Source, error) {
	var sources []Source
	for _, arg := range args {
		list, err := parseSource(arg, folders)
		if err != nil {
			return nil, err
		}
		sources = append(sources, list...)
	}
	for i, s := range sources {
		if slices.ContainsFunc(sources[:i], func(t Source) bool { return t.Place() == s.Place() }) {
			return nil, clierr.Usagef("%s is given twice", s.Place())
		}
		for _, t := range sources[:i] {
			if s.Server == nil && t.Server == nil && (owner.Within(s.Dir, t.Dir) || owner.Within(t.Dir, s.Dir)) {
				return nil, &owner.NestedError{Vault: s.Dir, Other: t.Dir}
			}
		}
	}
	if len(folders) > 0 && !slices.ContainsFunc(sources, func(s Source) bool { return s.Server != nil }) {
		return nil, clierr.Usagef("--folder %s names a folder of a server, but no SOURCE is the address of one", folders[0])
	}
	return sources, nil
}

// Place says where the source is, whatever it is called here.
func (s Source) Place() string {
	if s.Server != nil {
		return fmt.Sprintf("folder %q of %s", s.Server.Folder, s.Server.Address)
	}
	return fmt.Sprintf("vault %q", s.Dir)
}

func parseSource(arg string, folders []string) ([]Source, error) {
	if serverScheme.MatchString(arg) {
		return parseServer(arg, folders)
	}
	s, err := ParseVault(arg)
	return []Source{s}, err
}

// ParseVault reads a SOURCE argument that is a directory.
func ParseVault(arg string) (Source, error) {
	name, dir := "", arg
	if before, after, ok := strings.Cut(arg, "="); ok && !isThere(arg) {
		name, dir = before, after
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Source{}, err
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return Source{}, clierr.WithHint(fmt.Errorf("vault %q does not exist", dir), "give the directory that Obsidian opens as a vault")
	}
	if err != nil {
		return Source{}, err
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return Source{}, clierr.WithHint(fmt.Errorf("vault %q is not a directory", dir), "give the directory that Obsidian opens as a vault")
	}
	if name == "" {
		name = filepath.Base(abs)
	}
	if err := model.CheckName(name); err != nil {
		return Source{}, clierr.Usagef("folder name %q: %v; name it with NAME=DIR", name, err)
	}
	return Source{Name: name, Dir: real}, nil
}

// Names are the names of the Folders, quoted.
func Names(sources []Source) []string {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = fmt.Sprintf("%q", s.Name)
	}
	return names
}

// Absolute is a SOURCE argument as it is named from any directory.
func Absolute(arg string) (string, error) {
	if serverScheme.MatchString(arg) {
		return arg, nil
	}
	name, dir, named := strings.Cut(arg, "=")
	if !named || isThere(arg) {
		return filepath.Abs(arg)
	}
	abs, err := filepath.Abs(dir)
	return name + "=" + abs, err
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
