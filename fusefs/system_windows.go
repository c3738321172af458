package fusefs

import (
	"context"
	"io"

	"github.com/relayfs/relayfs/bridge"
)

// go-fuse does not support Windows. This file has the API so that programs build. The errors name the alternatives.

// Server exists only so that programs build, because there are no mounts on Windows.
type Server struct{}

func unsupported() error {
	return &SetupError{
		Problem: "Windows cannot mount a workspace",
		Hint:    "use `relayfs mcp`, or `relayfs cat`, `ls`, `grep` and `edit`; or run relayfs in WSL",
	}
}

func Mount(context.Context, *bridge.Workspace, string, Options) (*Server, error) {
	return nil, unsupported()
}

func (*Server) SessionOf(int) string { return "" }

func (*Server) Done() <-chan struct{} { return nil }

func (*Server) Unmount() error { return nil }

func Check(string) error { return unsupported() }

func Mounted() []string { return nil }

func Mountable() error { return unsupported() }

func CheckMountpoint(string, bool) error { return unsupported() }

func Unmount(string) error { return unsupported() }

func FreeKilled(string) error { return nil }

func ServerPID(string) int { return 0 }

func RunWatchNotifier(io.Reader) error { return unsupported() }

func Diagnose() []Finding { return []Finding{finding("FUSE", "", Warn, unsupported())} }
