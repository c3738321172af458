package source

import (
	"os"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/bridge/token"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
)

// ServerFolder is a shared folder of a server.
type ServerFolder struct {
	Address transport.Address
	Folder  string // the name of its folder document
}

// Where secrets come from: never from a command line, which everybody can read.
const (
	TokenVariable = "RELAYFS_TOKEN"
	keyVariable   = "RELAYFS_SERVER_KEY"
)

// parseServer reads the address of a server, whose folders stand in folders or,
// one of them, behind a '#' in the address.
func parseServer(arg string, folders []string) ([]Source, error) {
	arg, named, found := strings.Cut(arg, "#")
	if found {
		folders = []string{named}
	}
	address, err := transport.ParseAddress(arg)
	if err != nil {
		return nil, clierr.Usagef("SOURCE: %v", err)
	}
	if address.Token == "" {
		address.Token = os.Getenv(TokenVariable)
	}
	if len(folders) == 0 {
		return nil, clierr.Usagef("no folder of %s is named: --folder NAME=ID, with the id of its folder document", address)
	}
	var list []Source
	for _, f := range folders {
		name, id, ok := strings.Cut(f, "=")
		if !ok || id == "" {
			return nil, clierr.Usagef("--folder %q is not NAME=ID", f)
		}
		if err := model.CheckName(name); err != nil {
			return nil, clierr.Usagef("folder name %q: %v", name, err)
		}
		list = append(list, Source{Name: name, Server: &ServerFolder{address, id}})
	}
	return list, nil
}

// ServerKey is the key that tokens are made with, nil if none is given.
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
		return nil, clierr.Usagef("%s: %v", keyVariable, err)
	}
	return key, nil
}
