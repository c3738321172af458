package vault

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/relayfs/relayfs/bridge/model"
)

// The vault's directory itself is polled, because no event reports that a disk was unmounted or mounted over the
// directory. Each poll wakes the process, so polls are rare.
const (
	rootEvery = 5 * time.Second
	awayEvery = time.Second // interval while the vault is offline, or folders are polled
)

// Run watches the vault until ctx ends. It reports each settled change by others, about 100 ms after the last step of a
// save. Call Scan first: Run reports everything that differs from the result of Scan, including changes in between.
// Only one Run may be active.
func (v *Vault) Run(ctx context.Context, changed func(model.SourceEvent)) error {
	w := &watch{v: v, report: changed, pending: make(map[string]*change)}
	w.start()
	defer func() { w.notifier.close() }()
	due := w.rootDue()
	root := time.NewTimer(due)
	defer root.Stop()
	var check <-chan time.Time // nil if no path is pending
	for {
		if check == nil && len(w.pending) > 0 {
			check = time.After(coalesce)
		}
		select {
		case <-ctx.Done():
			return nil
		case ev := <-w.notifier.events:
			w.notice(ev)
		case err := <-w.notifier.errors:
			w.failed(err)
		case now := <-check:
			check = nil
			w.checkPending(now)
		case now := <-root.C:
			w.checkRoot()
			if len(w.notifier.polled) > 0 && !now.Before(w.notifier.next) {
				w.notifier.poll(w.compare)
			}
			due = 0
		}
		if d := w.rootDue(); d != due {
			due = d
			root.Reset(due)
		}
	}
}

func (w *watch) rootDue() time.Duration {
	if w.offline || len(w.notifier.polled) > 0 {
		return awayEvery
	}
	return rootEvery
}

type watch struct {
	v        *Vault
	report   func(model.SourceEvent)
	notifier *notifier
	pending  map[string]*change // paths that may have changed
	offline  bool
	ahead    time.Duration // how far the clock of the checks is ahead; only Follow changes it
}

// Follow is Run for tests that do not wait: each call of look reports the changes since the last call, as if the vault
// had been quiet since then. Without inotify every folder is polled, so look compares all of them.
func (v *Vault) Follow(changed func(model.SourceEvent)) (look func()) {
	w := &watch{v: v, report: changed, pending: make(map[string]*change)}
	w.start()
	return func() {
		w.checkRoot()
		w.notifier.poll(w.compare)
		for len(w.pending) > 0 {
			w.ahead += lookLimit
			w.checkPending(w.now())
		}
	}
}

// start watches the vault's directory. The comparison with the tree then descends into every folder.
func (w *watch) start() {
	w.notifier = newNotifier(w.v)
	w.watchAndCompare("")
}

// watchAndCompare watches a folder and then compares it, in this order, so that no change in between is missed.
func (w *watch) watchAndCompare(rel string) {
	if w.notifier.add(rel) {
		w.compare(rel)
	}
}

// notice marks the path of an event. The kind of the event only matters because a watch may have ended with its folder.
func (w *watch) notice(ev fsnotify.Event) {
	rel := strings.TrimPrefix(strings.TrimPrefix(ev.Name, w.v.folder.Path), "/")
	if rel == "" {
		w.checkRoot()
		return
	}
	if ev.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename) && w.notifier.watched[rel] {
		w.notifier.forget(rel)
	}
	w.mark(rel)
}

// failed handles errors of the watcher. Events may have been lost, so it compares every folder.
func (w *watch) failed(err error) {
	if err == nil {
		return
	}
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.v.log.Warn("watching for changes", model.LogErr, err)
	}
	for rel := range w.notifier.watched {
		w.compare(rel)
	}
	w.notifier.poll(w.compare)
}

// compare marks differences between a folder and the tree, and descends into unwatched folders. So the check, which
// comes later, sees both halves of a rename.
func (w *watch) compare(rel string) {
	entries, err := w.list(rel)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, model.ErrOffline) {
		w.mark(rel)
		return
	}
	if err != nil {
		w.v.log.Warn("folder cannot be read", model.LogPath, rel, model.LogErr, err)
		return
	}
	differing := w.v.tree.differing(rel, entries)
	now := w.now()
	for path := range differing {
		w.markAt(path, now)
	}
	for _, e := range entries {
		if e.Dir && !differing[e.Rel] {
			w.watchAndCompare(e.Rel)
		}
	}
}

func (w *watch) list(rel string) ([]model.SourceEntry, error) {
	dir, err := w.v.folder.OpenDir(rel)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return w.v.list(dir, rel, w.v.swaps.Sweep())
}

// checkRoot reports when the vault goes offline or online.
func (w *watch) checkRoot() {
	if w.offline {
		w.goOnline()
		return
	}
	if w.v.folder.Present(w.v.tree.hadEntries) {
		return
	}
	w.offline = true
	clear(w.pending)
	w.notifier.close()
	w.notifier = &notifier{v: w.v}
	w.v.log.Warn("vault is offline: its directory is missing, empty, or replaced by another one; put it back, or mount again to serve the other one")
	w.report(model.SourceEvent{Kind: model.EventOffline})
}

// goOnline serves the vault again if it is back. It compares every folder, and differences are reported after
// EventOnline.
func (w *watch) goOnline() {
	root, err := w.v.folder.Find(w.v.tree.hadEntries)
	if err != nil {
		return
	}
	root.Close()
	w.offline = false
	w.v.log.Info("vault is online")
	w.report(model.SourceEvent{Kind: model.EventOnline})
	w.start()
}
