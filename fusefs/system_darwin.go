package fusefs

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/model"
)

// This file has the parts that depend on macOS. The macOS kernel accepts no notifications (FUSE-T drops them silently),
// so the kernel may cache only for a moment.

const cacheTimeout = time.Second

// keepCaches is set if the kernel may keep pages and listings. The flags would grant this in the answers to OPEN and
// OPENDIR.
const (
	keepCaches     = false
	fileCacheFlags = 0
	dirCacheFlags  = 0
	noOpendir      = 0
)

const (
	detachFlag   = unix.MNT_FORCE
	unmountFlags = 0
)

var fuseSystems = []string{"/Library/Filesystems/macfuse.fs", "/Library/Filesystems/fuse-t.fs"}

func checkDevice() error {
	for _, dir := range fuseSystems {
		if _, err := os.Stat(dir); err == nil {
			return nil
		}
	}
	return &SetupError{
		Problem: "neither macFUSE nor FUSE-T is installed",
		Hint:    "install one of them (brew install --cask macfuse, or fuse-t), or work without a mount: `relayfs mcp`, or `relayfs cat`, `ls`, `grep` and `edit`",
	}
}

// checkHelper has nothing to check, because macFUSE and FUSE-T bring their own helpers.
func checkHelper() error { return nil }

// checkAllowOther has nothing to check, because macFUSE and FUSE-T check access by other users themselves.
func checkAllowOther(string) error { return nil }

const allowConfig = ""

func mountHint() string {
	return "run `relayfs doctor`; macFUSE's extension must be allowed in System Settings, under Privacy & Security"
}

func Diagnose() []Finding {
	return []Finding{finding("FUSE", "is installed", Fail, checkDevice())}
}

// mountTable returns the kernel's table. macFUSE and FUSE-T use different types, but with both the source begins with
// fsName.
func mountTable() (mounts []mountEntry, err error) {
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return nil, err
	}
	table := make([]unix.Statfs_t, n)
	if n, err = unix.Getfsstat(table, unix.MNT_NOWAIT); err != nil {
		return nil, err
	}
	for _, st := range table[:n] {
		m := mountEntry{
			dir: unix.ByteSliceToString(st.Mntonname[:]), fstype: unix.ByteSliceToString(st.Fstypename[:]), source: unix.ByteSliceToString(st.Mntfromname[:]),
		}
		if strings.HasPrefix(m.source, fsName) {
			m.fstype = mountType
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// closeOnExec does nothing, because macFUSE and FUSE-T pass their descriptors on through helper programs.
func closeOnExec() {}

// killed returns false, because on macOS no thread waits for a notification, so a killed process always ends.
func killed(int) bool { return false }

func servesFUSE(int) bool { return true }

func abort(mountEntry) error { return errors.ErrUnsupported }

// watchNotifier does nothing, because macOS has no inotify.
type watchNotifier struct{}

func newWatchNotifier([]string, *slog.Logger, func(context.Context), func(model.Path) []model.Path) *watchNotifier {
	return &watchNotifier{}
}

func (*watchNotifier) add(model.Path) {}

func (*watchNotifier) run(context.Context, string) {}

func (*watchNotifier) process() int { return 0 }

func RunWatchNotifier(io.Reader) error {
	return errors.New("programs that watch the mount get no notifications on this system")
}
