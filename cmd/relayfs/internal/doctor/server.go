package doctor

import (
	"context"
	"fmt"

	"github.com/relayfs/relayfs/bridge/remote"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
	"github.com/relayfs/relayfs/fusefs"
)

// examineServer connects to the server of a folder.
func examineServer(ctx context.Context, src source.Source) fusefs.Finding {
	f := fusefs.Finding{Name: "server of " + src.Name}
	key, err := source.ServerKey()
	var found remote.Finding
	if err == nil {
		found, err = remote.Probe(ctx, remote.Options{Address: src.Server.Address, Folder: src.Server.Folder, Key: key})
	}
	switch {
	case err != nil:
		f.Severity, f.Detail, f.Mend = fusefs.Fail, fmt.Sprintf("%s: %v", src.Server.Address, err), transport.Hint(err)
	case found.Entries == 0:
		f.Severity, f.Detail = fusefs.Warn, fmt.Sprintf("%s has nothing under the folder id %q", src.Server.Address, src.Server.Folder)
		f.Mend = "check the folder's id in --folder NAME=ID, unless the folder is new"
	case found.ReadOnly:
		f.Severity, f.Detail = fusefs.Warn, fmt.Sprintf("%s lets this token read only", src.Server.Address)
		f.Mend = "set " + source.TokenVariable + " to a token that may write, if that is wanted"
	default:
		f.Severity, f.Detail = fusefs.OK, fmt.Sprintf("%s answers, with %d entries", src.Server.Address, found.Entries)
	}
	return f
}
