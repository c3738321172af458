package source

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

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/token"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

// These secrets come only from the environment, because every user of the machine can read a command line.
const (
	tokenVariable = "RELAYFS_TOKEN"
	keyVariable   = "RELAYFS_SERVER_KEY"
)

type ServerFolder struct {
	Address transport.Address
	Folder  string // ID of its folder document
}

type Source struct {
	Name   string        // name of the root in the workspace
	Dir    string        // directory of a vault: absolute, symlinks resolved
	Server *ServerFolder // nil if the source is a vault
}

func (s Source) String() string {
	if s.Server != nil {
		return fmt.Sprintf("%s#%s=%s", s.Server.Address, s.Name, s.Server.Folder)
	}
	return s.Name + "=" + s.Dir
}

// Split returns the name of the root and the directory of the vault from the String of a Source. For a server the
// directory is "".
func Split(s string) (name, dir string) {
	if serverScheme.MatchString(s) {
		_, s, _ = strings.Cut(s, "#")
		name, _, _ = strings.Cut(s, "=")
		return name, ""
	}
	name, dir, _ = strings.Cut(s, "=")
	return name, dir
}

var serverScheme = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://`)

// Parse parses SOURCE arguments: DIR, NAME=DIR, ADDRESS#NAME=ID of a server's folder, relay:FOLDER or
// NAME=relay:FOLDER. It refuses sources with the same name or place, nested vaults, and a state folder in the part of a
// vault that is shown. state is the value of the setting "state", or "".
func Parse(args []string, state string) ([]Source, error) {
	sources := make([]Source, len(args))
	for i, arg := range args {
		var err error
		name, folder, shared := cutRelay(arg)
		switch {
		case serverScheme.MatchString(arg):
			sources[i], err = parseServer(arg)
		case shared:
			sources[i], err = findRelay(name, folder, state)
		default:
			sources[i], err = ParseVault(arg)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, s := range sources {
		if slices.ContainsFunc(sources[:i], func(t Source) bool { return t.Place() == s.Place() }) {
			return nil, cli.Usagef("%s is given twice", s.Place())
		}
		for _, t := range sources[:i] {
			if s.Name == t.Name {
				return nil, cli.WithHint(cli.Usagef("%s and %s would both be the folder %q", t.Place(), s.Place(), s.Name),
					"give one of them another name: NAME="+strings.TrimPrefix(s.String(), s.Name+"="))
			}
			if s.Server == nil && t.Server == nil && (owner.IsWithin(s.Dir, t.Dir) || owner.IsWithin(t.Dir, s.Dir)) {
				return nil, &owner.NestedError{Vault: s.Dir, Other: t.Dir}
			}
		}
	}
	if base, err := StateDir(state); err == nil {
		for _, s := range sources {
			if s.ShowsPath(base) {
				return nil, cli.WithHint(fmt.Errorf("the state folder %q is inside %s: it would be served and synchronised with the notes", base, s.Place()),
					"set RELAYFS_STATE or XDG_STATE_HOME to a folder outside of the vault")
			}
		}
	}
	return sources, nil
}

// Place describes the location of the source. It does not depend on Name.
func (s Source) Place() string {
	if s.Server != nil {
		return fmt.Sprintf("folder %q of %s", s.Server.Folder, s.Server.Address)
	}
	return fmt.Sprintf("vault %q", s.Dir)
}

// ShowsPath reports whether path is inside the vault and not in a hidden folder.
func (s Source) ShowsPath(path string) bool {
	if s.Server != nil {
		return false
	}
	within, err := filepath.Rel(s.Dir, resolved(path))
	parts := strings.Split(within, string(filepath.Separator))
	return err == nil && !slices.ContainsFunc(parts, func(name string) bool { return name != "." && strings.HasPrefix(name, ".") })
}

// resolved resolves the symbolic links in the part of an absolute path that exists.
func resolved(path string) string {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if filepath.Dir(at) == at {
			return path
		}
	}
}

func parseServer(arg string) (Source, error) {
	arg, named, _ := strings.Cut(arg, "#")
	address, err := transport.ParseAddress(arg)
	if err != nil {
		return Source{}, cli.Usagef("SOURCE: %v", err)
	}
	if address.Token == "" && address.Kind != transport.Relay {
		address.Token = os.Getenv(tokenVariable)
	}
	if named == "" {
		return Source{}, cli.Usagef("no folder of %s is named: use %s#NAME=ID, with the ID of its folder document", address, address)
	}
	name, id, ok := strings.Cut(named, "=")
	if !ok || id == "" {
		return Source{}, cli.Usagef("the folder %q is not NAME=ID", named)
	}
	if err := model.CheckName(name); err != nil {
		return Source{}, cli.Usagef("folder name %q: %v", name, err)
	}
	return Source{Name: name, Server: &ServerFolder{address, id}}, nil
}

// Access returns what authenticates relayfs to the server: for Relay the tokens of the login in the state folder base, for
// another server its key, or nil.
func (s *ServerFolder) Access(base string) (tokens transport.Tokens, key *token.Key, err error) {
	if s.Address.Kind == transport.Relay {
		tokens, err = AccountOf(base).Client.Tokens(s.Address.URL.String(), s.Folder)
	} else {
		key, err = ServerKey()
	}
	return tokens, key, err
}

func ServerKey() (*token.Key, error) {
	text := os.Getenv(keyVariable)
	if text == "" {
		return nil, nil
	}
	id, secret, named := strings.Cut(text, ".")
	if !named {
		id, secret = "", text
	}
	key, err := token.ParsePrivateKey(id, secret)
	if err != nil {
		return nil, cli.Usagef("%s: %v", keyVariable, err)
	}
	return key, nil
}

// MissingError says that no directory Dir exists.
type MissingError struct{ Dir, Problem string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("vault %q %s", e.Dir, e.Problem)
}

func ParseVault(arg string) (Source, error) {
	name, dir := cutName(arg)
	if dir == "" {
		return Source{}, cli.WithHint(cli.Usagef("SOURCE is empty"), "give the directory that Obsidian opens as a vault")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return Source{}, err
	}
	problem := ""
	switch st, err := os.Stat(abs); {
	case errors.Is(err, fs.ErrNotExist):
		problem = "does not exist"
	case err != nil:
		return Source{}, err
	case !st.IsDir():
		problem = "is not a directory"
	}
	if problem != "" {
		return Source{}, cli.WithHint(&MissingError{dir, problem}, "give the directory that Obsidian opens as a vault")
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return Source{}, err
	}
	if name == "" {
		name = filepath.Base(abs)
	}
	if err := model.CheckName(name); err != nil {
		return Source{}, cli.Usagef("folder name %q: %v; name it with NAME=DIR", name, err)
	}
	return Source{Name: name, Dir: real}, nil
}

// cutName cuts NAME=DIR. It expands "~/" in DIR: configurations and shells such as zsh leave it there.
func cutName(arg string) (name, dir string) {
	name, dir, named := strings.Cut(arg, "=")
	if !named || exists(arg) {
		name, dir = "", arg
	}
	return name, ExpandHome(dir)
}

// IsRelative reports whether a SOURCE is a directory that depends on the working directory.
func IsRelative(arg string) bool {
	_, dir := cutName(arg)
	return !serverScheme.MatchString(arg) && !IsRelay(arg) && !filepath.IsAbs(dir)
}

// ExpandHome replaces "~/" at the beginning of a path by the home folder.
func ExpandHome(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || !strings.HasPrefix(path, "~/") {
		return path
	}
	return home + path[1:]
}

// VaultAround returns the Obsidian vault that contains the folder dir, as SOURCE arguments. It returns nil if
// there is none.
func VaultAround(dir string) []string {
	dir, err := filepath.Abs(dir)
	for err == nil {
		if exists(filepath.Join(dir, ".obsidian")) {
			return []string{dir}
		}
		if filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

func Names(sources []Source) []string {
	names := make([]string, len(sources))
	for i, s := range sources {
		names[i] = fmt.Sprintf("%q", s.Name)
	}
	return names
}

func Absolute(arg string) (string, error) {
	if serverScheme.MatchString(arg) || IsRelay(arg) {
		return arg, nil
	}
	name, dir := cutName(arg)
	abs, err := filepath.Abs(dir)
	if name != "" {
		abs = name + "=" + abs
	}
	return abs, err
}

// LooksLikeSource reports whether a single argument is probably a SOURCE and not a mountpoint. A mountpoint is usually
// an empty directory.
func LooksLikeSource(arg string) bool {
	_, _, named := strings.Cut(arg, "=")
	entries, err := os.ReadDir(arg)
	return serverScheme.MatchString(arg) || IsRelay(arg) || named && !exists(arg) || err == nil && len(entries) > 0
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// StateDir returns the folder for relayfs's own data. given is the setting state.
func StateDir(given string) (string, error) {
	if filepath.IsAbs(given) {
		return filepath.Clean(given), nil
	}
	if given != "" { // each working directory would have a state folder of its own
		return "", cli.Usagef("state %q is not an absolute path", given)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "relayfs"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", cli.WithHint(err, "set HOME, or set RELAYFS_STATE to a folder")
	}
	return filepath.Join(home, ".local", "state", "relayfs"), nil
}

func VaultsDir(state string) string { return filepath.Join(state, "vaults") }

// State returns the source's state folder. It stays the same when a vault is moved on its disk.
func (s Source) State(base string) string {
	if s.Server != nil {
		return s.OwnState(base)
	}
	return owner.StateOf(s.OwnState(base), s.Dir)
}

// OwnState returns the state folder of a source that was never moved. Its name has two parts: the name of the vault or
// server, for readers, and a checksum of the source's location, which makes the name unique.
func (s Source) OwnState(base string) string {
	name, place := filepath.Base(s.Dir), s.Dir
	if s.Server != nil {
		name, place = strings.ReplaceAll(s.Server.Address.URL.Host, ":", "_"), s.Place()
	}
	sum := sha256.Sum256([]byte(place))
	return filepath.Join(VaultsDir(base), name+"-"+hex.EncodeToString(sum[:6]))
}
