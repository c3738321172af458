package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/bridge/remote/transport"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/daemon"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ownership"
	"github.com/relayfs/relayfs/fusefs"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// errInterrupted ends a command that a signal ended.
var errInterrupted = errors.New("interrupted")

// interrupted returns errInterrupted for an error that says no more than that ctx has ended.
func interrupted(ctx context.Context, err error) error {
	for e := err; e != nil && ctx.Err() != nil; e = errors.Unwrap(e) {
		if e == context.Canceled {
			return errInterrupted
		}
	}
	return err
}

func exitCode(err error) int {
	var usage *clierr.UsageError
	var child *daemon.ChildError
	switch {
	case errors.As(err, &child):
		return child.Code
	case err == nil:
		return exitDone
	case errors.As(err, &usage), errors.Is(err, errHelpShown):
		return exitUsage
	}
	return exitFailed
}

func printError(w io.Writer, err error) {
	var child *daemon.ChildError
	if err == nil || errors.Is(err, errHelpShown) || errors.Is(err, errNoMatch) || errors.As(err, &child) {
		return
	}
	fmt.Fprintf(w, "relayfs: error: %s\n", output.BelowFirst(err.Error()))
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(w, "relayfs: hint: %s\n", output.BelowFirst(hint))
	}
}

func hintFor(err error) string {
	var hint *clierr.HintError
	var usage *clierr.UsageError
	var owned *owner.OwnedError
	var refused *owner.RefusedError
	var nested *owner.NestedError
	var setup *fusefs.SetupError
	switch {
	case errors.As(err, &hint):
		return hint.Hint
	case errors.As(err, &setup):
		return setup.Hint
	case errors.As(err, &nested):
		return "serve the outer one alone; what is in the inner one is shown in it"
	case errors.As(err, &usage):
		return "see 'relayfs --help', or 'relayfs COMMAND --help'"
	case errors.As(err, &owned) && owned.Owner != nil && owned.Owner.Stopped():
		return fmt.Sprintf("process %d is stopped (Ctrl-Z?): continue it with `kill -CONT %d`", owned.Owner.PID, owned.Owner.PID)
	case errors.As(err, &owned) && owned.Owner != nil && owned.Owner.Mountpoint != "":
		return fmt.Sprintf("use the mount at %s, or end it with 'relayfs unmount %s'", owned.Owner.Mountpoint, owned.Owner.Mountpoint)
	case errors.As(err, &owned) && owned.Owner == nil:
		return "end that process, or name its state folder with --state"
	case errors.As(err, &owned):
		return "end that process first; 'relayfs mcp' with the same SOURCE attaches to it instead"
	case errors.As(err, &refused) && refused.Status == http.StatusNotFound:
		return ownership.HintSources
	case transport.Hint(err) != "":
		return transport.Hint(err)
	case errors.Is(err, model.ErrOffline):
		return "check that the vault's directory exists and is not empty"
	case errors.Is(err, model.ErrUnknownStore):
		return "update relayfs"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions of that path"
	}
	return ""
}

// errNoMatch makes grep's exit code 1. It is not printed.
var errNoMatch = errors.New("no matches")
