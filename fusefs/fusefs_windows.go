package fusefs

import (
	"context"
	"io"
	"log/slog"

	"github.com/relayfs/relayfs/bridge"
)

// Windows has no FUSE that go-fuse knows. What this package offers is there, so
// that programs build, and says what to use instead.

// Options configure a mount.
type Options struct {
	Author     string
	AllowOther bool
	NonEmpty   bool
	Debug      bool
	Guard      []string
	Poker      []string
	Logger     *slog.Logger
}

// Server is a mount; there is none.
type Server struct{}

// unsupported is the error of everything here.
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

// Unmount fails.
func Unmount(string) error { return unsupported() }

// RunGuard fails.
func RunGuard() error { return unsupported() }

// RunPoker fails.
func RunPoker(io.Reader) error { return unsupported() }

// Diagnose says that there is no mount.
func Diagnose() []Finding { return []Finding{finding("FUSE", "", Warn, unsupported())} }
