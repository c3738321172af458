package fusefs

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// What depends on the system: here the kernel takes no notifications (FUSE-T
// drops them without a word), so that it may keep things for a moment only.

const cacheTimeout = time.Second

// keepCaches says that the kernel may keep pages and listings.
const keepCaches = false

const (
	detachFlag   = unix.MNT_FORCE
	unmountFlags = 0
)

// fuseSystems are where macFUSE and FUSE-T install themselves.
var fuseSystems = []string{"/Library/Filesystems/macfuse.fs", "/Library/Filesystems/fuse-t.fs"}

func checkDevice() error {
	for _, dir := range fuseSystems {
		if _, err := os.Stat(dir); err == nil {
			return nil
		}
	}
	return &SetupError{
		Problem: "neither macFUSE nor FUSE-T is installed",
		Hint:    "install one of them (brew install --cask macfuse, or fuse-t), or work without a mount: `relayfs help agent`",
	}
}

// checkHelper has nothing to look for: both bring their own.
func checkHelper() error { return nil }

// mountHint says what to do when the system has refused a mount.
func mountHint() string {
	return "run `relayfs doctor`; macFUSE's extension must be allowed in System Settings, under Privacy & Security"
}

// Diagnose looks at everything that mounting depends on.
func Diagnose() []Finding {
	return []Finding{finding("FUSE", "is installed", Fail, checkDevice())}
}
