//go:build !windows

package fusefs

import (
	"context"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/patience"
)

// workspace is a workspace for the requests of the kernel. What may wait for a source is
// interrupted only when the program that waits dies. What changes something is never
// interrupted: who calls that takes the cancellation from the context.
type workspace struct{ *bridge.Workspace }

func (w workspace) Stat(ctx context.Context, p model.Path) (bridge.Info, error) {
	patience := patience.NewPatience(ctx)
	defer patience.End()
	return w.Workspace.Stat(patience, p)
}

func (w workspace) Open(ctx context.Context, p model.Path) (*model.Version, error) {
	patience := patience.NewPatience(ctx)
	defer patience.End()
	return w.Workspace.Open(patience, p)
}

func (w workspace) Sync(ctx context.Context, p model.Path) error {
	patience := patience.NewPatience(ctx)
	defer patience.End()
	return w.Workspace.Sync(patience, p)
}

func (w workspace) Acknowledged(ctx context.Context, p model.Path) bool {
	patience := patience.NewPatience(ctx)
	defer patience.End()
	return w.Workspace.Acknowledged(patience, p)
}
