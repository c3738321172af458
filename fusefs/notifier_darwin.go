package fusefs

import (
	"errors"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// notifier tells the kernel nothing: it takes no notifications here, and keeps
// what it knows for a moment only (cacheTimeout).
type notifier struct{}

func newNotifier() *notifier { return &notifier{} }

func (*notifier) start(*fuse.Server, string, []string) error { return nil }
func (*notifier) stop()                                      {}

// DeleteNotify does nothing.
func (*notifier) DeleteNotify(uint64, uint64, string) fuse.Status { return fuse.OK }

// EntryNotify does nothing.
func (*notifier) EntryNotify(uint64, string) fuse.Status { return fuse.OK }

// InodeNotify does nothing.
func (*notifier) InodeNotify(uint64, int64, int64) fuse.Status { return fuse.OK }

// InodeRetrieveCache is not used.
func (*notifier) InodeRetrieveCache(uint64, int64, []byte) (int, fuse.Status) {
	return 0, fuse.Status(syscall.ENOSYS)
}

// InodeNotifyStoreCache is not used.
func (*notifier) InodeNotifyStoreCache(uint64, int64, []byte) fuse.Status {
	return fuse.Status(syscall.ENOSYS)
}

// RunGuard fails: without notifications there is nothing to guard.
func RunGuard() error { return errors.New("a mount has no guard on this system") }
