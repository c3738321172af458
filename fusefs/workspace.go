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
	ctx, end := killable(ctx)
	defer end()
	return w.Workspace.Stat(ctx, p)
}

func (w workspace) Open(ctx context.Context, p model.Path) (*model.Version, error) {
	ctx, end := killable(ctx)
	defer end()
	return w.Workspace.Open(ctx, p)
}

func (w workspace) Sync(ctx context.Context, p model.Path) error {
	ctx, end := killable(ctx)
	defer end()
	return w.Workspace.Sync(ctx, p)
}

func (w workspace) Acknowledged(ctx context.Context, p model.Path) bool {
	ctx, end := killable(ctx)
	defer end()
	return w.Workspace.Acknowledged(ctx, p)
}
