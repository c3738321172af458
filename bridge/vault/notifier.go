package vault

import (
	"errors"
	"io/fs"
	"maps"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// Folders without an inotify watch are polled.
const (
	// pollEvery is the minimum interval between polls. The interval grows with the time that a poll takes, so that
	// polling uses at most a twentieth of one core.
	pollEvery = 2 * time.Second
	pollShare = 20
)

// notifier reports paths that may have changed. It uses inotify, and polls folders without a watch. Only the goroutine
// of Run uses it.
type notifier struct {
	v       *Vault
	inotify *fsnotify.Watcher // nil if unavailable; events and errors are then nil, too
	events  <-chan fsnotify.Event
	errors  <-chan error
	watched map[string]bool
	polled  map[string]bool // folders without an inotify watch
	warned  bool
	next    time.Time
}

func newNotifier(v *Vault) *notifier {
	n := &notifier{v: v, watched: make(map[string]bool), polled: make(map[string]bool), warned: v.o.MaxWatches < 0}
	if v.o.MaxWatches < 0 {
		return n
	}
	inotify, err := fsnotify.NewWatcher()
	if err != nil {
		n.warn("fs.inotify.max_user_instances", err)
		return n
	}
	n.inotify, n.events, n.errors = inotify, inotify.Events, inotify.Errors
	return n
}

func (n *notifier) close() {
	if n.inotify != nil {
		n.inotify.Close()
	}
}

// add watches the folder rel and reports whether the watch is new. If it is new, the caller must scan the folder for
// changes from before the watch.
func (n *notifier) add(rel string) (isNew bool) {
	if n.watched[rel] || n.polled[rel] {
		return false
	}
	switch err := n.watch(rel); {
	case err == nil:
		n.watched[rel] = true
		return true
	case errors.Is(err, fs.ErrNotExist):
		return false
	case errors.Is(err, syscall.ENOSPC):
		n.warn("fs.inotify.max_user_watches", err)
	case n.inotify != nil:
		n.v.log.Warn("folder cannot be watched, polling it instead", model.LogPath, rel, model.LogErr, err)
	}
	n.polled[rel] = true
	return true
}

func (n *notifier) watch(rel string) error {
	switch limit := n.v.o.MaxWatches; {
	case n.inotify == nil:
		return syscall.EMFILE
	case limit > 0 && len(n.watched) >= limit:
		return syscall.ENOSPC
	}
	return n.inotify.Add(vaultdir.Join(n.v.folder.Path, rel))
}

// warn logs once which limit is reached, and how to raise it.
func (n *notifier) warn(sysctl string, err error) {
	if n.warned {
		return
	}
	n.warned = true
	n.v.log.Warn("inotify limit reached: some folders are polled, so changes there show after some seconds; raise the limit with sysctl",
		logSysctl, sysctl, model.LogErr, err)
}

// forget stops watching the folder rel and everything below it. A watch follows a renamed folder, so it must end before
// the folder's new path gets a watch.
func (n *notifier) forget(rel string) {
	for dir := range n.watched {
		if dir == rel || vaultdir.Below(rel, dir) {
			delete(n.watched, dir)
			_ = n.inotify.Remove(vaultdir.Join(n.v.folder.Path, dir)) // the kernel may have dropped it already
		}
	}
	maps.DeleteFunc(n.polled, func(dir string, _ bool) bool { return dir == rel || vaultdir.Below(rel, dir) })
}

func (n *notifier) poll(look func(rel string)) {
	start := time.Now()
	for dir := range n.polled {
		look(dir)
	}
	took := time.Since(start)
	n.next = time.Now().Add(max(pollEvery, took*pollShare))
}
