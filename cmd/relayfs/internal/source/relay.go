package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/remote/control"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

const relayPrefix = "relay:"

func IsRelay(arg string) bool {
	_, _, ok := cutRelay(arg)
	return ok
}

func cutRelay(arg string) (name, folder string, ok bool) {
	if folder, ok = strings.CutPrefix(arg, relayPrefix); ok && !strings.HasPrefix(folder, "//") {
		return "", folder, true
	}
	name, rest, _ := strings.Cut(arg, "=")
	folder, ok = strings.CutPrefix(rest, relayPrefix)
	return name, folder, ok && !strings.Contains(name, "/")
}

// findRelay finds a folder in the stored list of folders of the login. folder is the name of the folder, RELAY/NAME, or
// the ID of the folder.
func findRelay(name, folder, state string) (Source, error) {
	base, err := StateDir(state)
	if err != nil {
		return Source{}, err
	}
	list, err := AccountOf(base).Folders()
	if err != nil {
		return Source{}, fmt.Errorf("relay:%s: %w", folder, err)
	}
	found := slices.DeleteFunc(slices.Clone(list.Folders), func(f control.Folder) bool {
		return f.Name != folder && f.RelayName+"/"+f.Name != folder && !strings.EqualFold(f.ID, folder)
	})
	switch {
	case len(found) > 1:
		return Source{}, cli.Usagef("%d folders are called %q: use the ID of one: %s", len(found), folder, describe(found))
	case len(found) == 0 && len(list.Folders) == 0:
		return Source{}, cli.Usagef("no folder %q: nothing is shared with this login at %s", folder, list.API)
	case len(found) == 0:
		return Source{}, cli.Usagef("no folder %q is shared with this login; shared folders: %s", folder, describe(list.Folders))
	}
	if name == "" {
		name = found[0].Name
	}
	if err := model.CheckName(name); err != nil {
		return Source{}, cli.Usagef("folder name %q: %v; name it with NAME=relay:%s", name, err, found[0].ID)
	}
	address, err := transport.ParseAddress("relay+" + list.API)
	return Source{Name: name, Server: &ServerFolder{address, found[0].Document()}}, err
}

const maxDescribed = 20

func describe(folders []control.Folder) string {
	var list []string
	for i, f := range folders {
		if i == maxDescribed {
			list = append(list, fmt.Sprintf("and %d more", len(folders)-i))
			break
		}
		origin := "relay:" + f.ID
		if f.RelayName != "" {
			origin += fmt.Sprintf(", of relay %q", f.RelayName)
		}
		if f.Creator != "" {
			origin += ", by " + f.Creator
		}
		list = append(list, fmt.Sprintf("%q (%s)", f.Name, origin))
	}
	return strings.Join(list, ", ")
}
