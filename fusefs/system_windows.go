package fusefs

import (
	"context"
	"io"

	"github.com/relayfs/relayfs/bridge"
)

// go-fuse does not support Windows. The API exists so that programs build, and says what
// to use instead.

// Server is a mount. There is none on Windows.
type Server struct{}

func unsupported() error {
	return &SetupError{
		Problem: "Windows cannot mount a workspace",
		Hint:    "use `relayfs mcp`, or `relayfs cat`, `ls`, `grep` and `edit`; or run relayfs in WSL",
	}
}

// Mount fails.
func Mount(context.Context, *bridge.Workspace, string, Options) (*Server, error) {
	return nil, unsupported()
}

// Wait returns at once.
func (*Server) Wait() {}

// Unmount does nothing.
func (*Server) Unmount() error { return nil }

// Check fails.
func Check(string, bool) error { return unsupported() }

// Mounted is nothing.
func Mounted() []string { return nil }

// Mountable fails.
func Mountable() error { return unsupported() }

// CheckMountpoint fails.
func CheckMountpoint(string, bool, bool) error { return unsupported() }

// Unmount fails.
func Unmount(string) error { return unsupported() }

// FreeKilled does nothing.
func FreeKilled(string) error { return nil }

// Killed is false.
func Killed(int) bool { return false }

// RunPoker fails.
func RunPoker(io.Reader) error { return unsupported() }

// Diagnose reports that there is no mount.
func Diagnose() []Finding { return []Finding{finding("FUSE", "", Warn, unsupported())} }
