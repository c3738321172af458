//go:build !windows

package fusefs

import (
	"context"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
)

// workspace is the workspace for requests of the kernel. The methods below, which may wait for a source, are
// interrupted only when the waiting program dies. Calls that change notes or names are not interrupted, because their
// callers remove the cancellation from the context.
type workspace struct{ *bridge.Workspace }

func (w workspace) Stat(ctx context.Context, p model.Path) (bridge.Info, error) {
	killable := newKillableContext(ctx)
	defer killable.End()
	return w.Workspace.Stat(killable, p)
}

func (w workspace) Open(ctx context.Context, p model.Path) (*model.Version, error) {
	killable := newKillableContext(ctx)
	defer killable.End()
	return w.Workspace.Open(killable, p)
}

func (w workspace) Sync(ctx context.Context, p model.Path) error {
	killable := newKillableContext(ctx)
	defer killable.End()
	return w.Workspace.Sync(killable, p)
}

func (w workspace) Acknowledged(ctx context.Context, p model.Path) bool {
	killable := newKillableContext(ctx)
	defer killable.End()
	return w.Workspace.Acknowledged(killable, p)
}
