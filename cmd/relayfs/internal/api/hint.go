package api

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
)

func Hint(err error) string {
	var hint *cli.HintError
	var owned *owner.AlreadyServedError
	var refused *owner.RefusedError
	var nested *owner.NestedError
	var noNote *model.Error
	switch {
	case errors.As(err, &hint):
		return hint.Hint
	case errors.As(err, &nested):
		return "serve only the outer vault; it includes the inner vault"
	case errors.As(err, &refused) && refused.Hint != "":
		return refused.Hint
	case errors.As(err, &owned) && owned.Owner != nil && owned.Owner.Stopped():
		return fmt.Sprintf("process %d is stopped (Ctrl-Z?): continue it with `kill -CONT %d`", owned.Owner.PID, owned.Owner.PID)
	case errors.As(err, &owned) && owned.Unreachable:
		return "try again when that process has ended"
	case errors.As(err, &owned) && owned.Owner != nil && owned.Owner.Mountpoint != "":
		return fmt.Sprintf("use the mount at %s, or end it with `relayfs unmount %s`", owned.Owner.Mountpoint, owner.ShellWord(owned.Owner.Mountpoint))
	case errors.As(err, &owned) && owned.Owner == nil:
		return "end that process, or set RELAYFS_STATE to its state folder"
	case errors.As(err, &owned):
		return "end that process first; 'relayfs mcp' with the same SOURCE attaches to it instead"
	case errors.As(err, &noNote) && errors.Is(err, fs.ErrNotExist):
		return "'relayfs ls' lists the notes; a path begins with the name of the vault: Notes/Projects/Plan.md"
	case errors.Is(err, model.ErrIsDir):
		return "name a note in that folder; 'relayfs ls FOLDER' lists its notes"
	case errors.Is(err, model.ErrReadOnly) && !errors.As(err, new(*model.ReadOnlyError)):
		return "if relayfs was started with --read-only, start it without; 'relayfs status' shows this"
	case transport.Hint(err) != "":
		return transport.Hint(err)
	case errors.Is(err, model.ErrOffline):
		return "check that the vault's directory exists and is not empty"
	case model.IsFull(err):
		return "free space on that disk"
	case errors.Is(err, syscall.EMFILE):
		return "raise the limit of open files for relayfs: 'ulimit -n 4096' in its shell, or LimitNOFILE= in its systemd unit"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions of that path"
	}
	return ""
}
