package vault

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

const (
	// coalesce is the delay before the first check of a path, so that one check covers all events of a save. It is also
	// the interval of the checks.
	coalesce = 20 * time.Millisecond
	// saveQuiet is the time for which a file must stay the same before it is reported. Together with coalesce it makes
	// a save visible after about 100 ms.
	saveQuiet = 60 * time.Millisecond
	lookLimit = time.Second // a file that changes all the time is reported after this time
)

// change is a path that may differ from the tree.
type change struct {
	first    time.Time // time of the first check
	due      time.Time // time of the next check
	seen     vaultdir.StatSample
	entry    model.SourceEntry // entry at the last check, if the path exists
	changing bool              // a method of this Vault is changing the path
}

func (c *change) there() bool { return c.seen.Err == nil }

func (w *watch) now() time.Time { return time.Now().Add(w.ahead) }

func (w *watch) mark(rel string) { w.markAt(rel, w.now()) }

// markAt is mark with a given time. Paths that are marked with the same time are checked together.
func (w *watch) markAt(rel string, now time.Time) {
	if rel == "" || w.offline || vaultdir.Reserved(rel) {
		return
	}
	due := now.Add(coalesce)
	if c := w.pending[rel]; c == nil {
		w.pending[rel] = &change{due: due}
	} else if due.Before(c.due) {
		c.due = due
	}
}

// checkPending checks every due path and reports the settled ones. It first reports removals and renames, parents
// before children, and then new and changed paths.
func (w *watch) checkPending(now time.Time) {
	if w.checkRoot(); w.offline {
		return
	}
	for range maxDepth {
		ready := w.observe(now)
		if len(ready) == 0 {
			return
		}
		for _, rel := range ready {
			if c := w.pending[rel]; c != nil && c.there() {
				if names := w.exchanged(rel, now); names != nil {
					w.reportExchanged(names)
				}
			}
		}
		arrivals := w.unknown()
		for _, rel := range ready {
			switch c := w.pending[rel]; {
			case c == nil:
			case c.there():
				w.reportReplaced(rel, c, arrivals)
			default:
				w.gone(rel, arrivals)
			}
		}
		for _, rel := range ready {
			if c := w.pending[rel]; c != nil && c.there() {
				w.reportAppeared(rel, c)
			}
		}
		now = w.now()
	}
}

// maxDepth is the maximum number of levels of new folders that one check descends.
const maxDepth = 64

// observe checks the due paths, drops those without changes, and returns the settled paths in sorted order.
func (w *watch) observe(now time.Time) (ready []string) {
	for rel, c := range w.pending {
		if !c.due.After(now) {
			w.observeOne(rel, c, now)
		}
	}
	for _, rel := range slices.Sorted(maps.Keys(w.pending)) {
		c := w.pending[rel]
		if c.due.After(now) {
			continue
		}
		switch wait := w.wait(rel, c, now); {
		case wait < 0:
			delete(w.pending, rel)
		case wait == 0:
			ready = append(ready, rel)
		default:
			c.due = now.Add(wait)
		}
	}
	return ready
}

// observeOne checks one path. It ends the watches of a missing folder immediately, before the new path of the folder
// can get a watch.
func (w *watch) observeOne(rel string, c *change, now time.Time) {
	e, err := w.v.folder.Stat(rel)
	if c.first.IsZero() {
		c.first = now
	}
	c.entry = e
	c.seen.Update(e.Stamp, err, now)
	c.changing = w.v.tree.isBusy(rel)
	if err != nil && (w.notifier.watched[rel] || w.notifier.polled[rel]) {
		w.notifier.forget(rel)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, model.ErrNotDir) {
		w.v.log.Debug("path cannot be checked", model.LogPath, rel, model.LogErr, err)
	}
}

// wait returns how long to wait until the next check of a path. It is 0 if the path has settled, and negative if the
// path has no changes.
func (w *watch) wait(rel string, c *change, now time.Time) time.Duration {
	old := w.v.tree.entry(rel)
	if old != nil && c.there() && otherKind(old, &c.entry) {
		old = nil // an entry of another type has replaced the old entry
	}
	unchanged := now.Sub(c.seen.Since)
	switch {
	case c.changing:
		return coalesce
	case !c.there() && old == nil:
		return -1
	case !c.there():
		return max(0, vanishGrace-unchanged)
	case old == nil && w.v.tree.entry(model.Parent(rel)) == nil:
		w.mark(model.Parent(rel))
		return coalesce
	case isUnknown(old, &c.entry) && w.isMoved(rel, c, now):
		return coalesce // wait for the other half of a rename
	case old == nil && c.entry.Dir:
		return 0
	case old != nil && old.Dir && c.entry.Dir:
		return w.sameFolder(rel, old, c)
	case old != nil && old.Stamp == c.entry.Stamp:
		return -1
	case now.Sub(c.first) >= lookLimit:
		return 0
	case c.entry.Stamp.Size == 0 && old != nil && old.Stamp.Size > 0:
		return max(0, vaultdir.MaxQuietWait-unchanged)
	}
	return max(0, saveQuiet-unchanged)
}

// sameFolder watches a folder that the tree has under its name. If another folder has taken the name, sameFolder does
// not report the replacement, but compares the contents of the new folder.
func (w *watch) sameFolder(rel string, old *model.SourceEntry, c *change) time.Duration {
	if vaultdir.IDOfStamp(old.Stamp) != vaultdir.IDOfStamp(c.entry.Stamp) {
		w.notifier.forget(rel)
		w.v.tree.record(c.entry)
	}
	w.watchAndCompare(rel)
	return -1
}
