package ownership

import (
	"context"
	"fmt"
	"time"

	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/clierr"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/source"
)

// MountedBy returns the process that serves the mount at dir, nil if none is known.
func MountedBy(dir, state string) *owner.Info {
	base, err := source.StateDir(state)
	if err != nil {
		return nil
	}
	live, err := owner.Live(source.VaultsDir(base))
	if err != nil {
		return nil
	}
	for _, info := range live {
		if info.Mountpoint == dir {
			return &info
		}
	}
	return nil
}

// endPatience is how long a process may take to end after it is unmounted: it serves open files for a few
// more seconds.
const endPatience = 15 * time.Second

// AwaitEnd waits until the process of an owner has ended.
func AwaitEnd(ctx context.Context, info *owner.Info) error {
	if info == nil {
		return nil
	}
	patience, cancel := context.WithTimeout(ctx, endPatience)
	defer cancel()
	for !ended(info.PID) {
		select {
		case <-patience.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return clierr.WithHint(
				fmt.Errorf("%v is unmounted, but has not ended yet", *info),
				fmt.Sprintf("a program may still have a note open, or a container the mount; close it, or end the process with `kill %d`", info.PID))

		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}
