package source

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// StateDir is where relayfs keeps what is not in the vaults.
func StateDir(flag string) (string, error) {
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

// VaultsDir holds one state folder per vault.
func VaultsDir(state string) string { return filepath.Join(state, "vaults") }

// State is the source's state folder.
func (s Source) State(base string) string {
	if s.Server != nil {
		return s.OwnState(base)
	}
	return owner.StateOf(s.OwnState(base), s.Dir)
}

// OwnState is named after the vault or server for people, and after its place so that
// two never share one.
func (s Source) OwnState(base string) string {
	name, place := filepath.Base(s.Dir), s.Dir
	if s.Server != nil {
		name, place = strings.ReplaceAll(s.Server.Address.URL.Host, ":", "_"), s.Place()
	}
	sum := sha256.Sum256([]byte(place))
	return filepath.Join(VaultsDir(base), name+"-"+hex.EncodeToString(sum[:6]))
}
