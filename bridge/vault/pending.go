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
	// coalesce is how long the first look at a path waits, so that one look is enough for
	// the several events of a save.
	coalesce = 20 * time.Millisecond
	// saveQuiet is how long a file must stay the same before it is reported. With
	// coalesce it makes a save visible about 100 ms after its last step.
	saveQuiet = 60 * time.Millisecond
	// lookLimit bounds the wait for a file that is written all the time.
	lookLimit = time.Second
)

// change is a path that may differ from the tree.
type change struct {
	first time.Time // when it was marked
	due   time.Time // of the next look
	seen  vaultdir.StatSample
	entry model.SourceEntry // what was seen, if it was there
	busy  bool              // a method of this Vault was at work on it
}

func (c *change) there() bool { return c.seen.Err == nil }

// mark says that a path is worth a look.
func (w *watch) mark(rel string) { w.markAt(rel, time.Now()) }

// markAt is mark for paths that are to be looked at together.
func (w *watch) markAt(rel string, now time.Time) {
	if rel == "" || w.offline || vaultdir.Reserved(rel) {
		return
	}
	due := now.Add(coalesce)
	c := w.pending[rel]
	if c == nil {
		c = &change{first: now, due: due}
		w.pending[rel] = c
	}
	if due.Before(c.due) {
		c.due = due
	}
	w.arm(c.due)
}

// arm schedules a look at due, or soon after: notes that are saved one after the other
// share looks.
func (w *watch) arm(due time.Time) {
	if soonest := w.looked.Add(coalesce); due.Before(soonest) {
		due = soonest
	}
	if w.next.IsZero() || due.Before(w.next) {
		w.next = due
		w.timer.Reset(max(0, time.Until(due)))
	}
}

// rearm sets the timer to the earliest look that is due.
func (w *watch) rearm() {
	w.next = time.Time{}
	for _, c := range w.pending {
		w.arm(c.due)
	}
}

// look looks at every path that is due and reports what has settled: first what is gone or
// was renamed, parents before children, then what is new or changed.
func (w *watch) look(now time.Time) {
	w.looked = now
	defer w.rearm()
	if w.checkRoot(); w.offline {
		return
	}
	for range maxDepth {
		ready := w.observe(now)
		if len(ready) == 0 {
			return
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
		now = time.Now()
	}
}

// maxDepth bounds how many levels of new folders one look descends.
const maxDepth = 64

// observe looks at the paths that are due, drops those that are no news, and
// returns those that have settled, in the order of their names.
func (w *watch) observe(now time.Time) (ready []string) {
	for _, rel := range slices.Sorted(maps.Keys(w.pending)) {
		c := w.pending[rel]
		if c.due.After(now) {
			continue
		}
		w.observeOne(rel, c, now)
	}
	leaving := w.missing()
	for _, rel := range slices.Sorted(maps.Keys(w.pending)) {
		c := w.pending[rel]
		if c.due.After(now) {
			continue
		}
		switch wait := w.wait(rel, c, now, leaving); {
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

// observeOne looks at one path. A folder that is not there any more loses its
// watches at once, before its new path can get one.
func (w *watch) observeOne(rel string, c *change, now time.Time) {
	e, err := w.v.folder.Stat(rel)
	c.entry = e
	c.seen.Look(e.Stamp, err, now)
	c.busy = w.v.tree.isBusy(rel)
	if err != nil && (w.notifier.watched[rel] || w.notifier.polled[rel]) {
		w.notifier.forget(rel)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, model.ErrNotDir) {
		w.v.log.Debug("path cannot be looked at", model.LogPath, rel, model.LogErr, err)
	}
}

// wait says how long to leave a path alone: 0 is not at all, a negative wait is for good,
// because there is no news.
func (w *watch) wait(rel string, c *change, now time.Time, leaving map[vaultdir.ID]string) time.Duration {
	old := w.v.tree.entry(rel)
	left, leaves := leaving[vaultdir.IDOfStamp(c.entry.Stamp)]
	if old != nil && c.there() && otherKind(old, &c.entry) {
		old = nil // it gives way
	}
	unchanged := now.Sub(c.seen.Since)
	switch {
	case c.busy:
		return coalesce
	case !c.there() && old == nil:
		return -1
	case !c.there():
		return max(0, vanishGrace-unchanged)
	case old == nil && w.v.tree.entry(vaultdir.Parent(rel)) == nil:
		w.mark(vaultdir.Parent(rel))
		return coalesce
	case old == nil && leaves && left != rel: // else the number of what was here is used again
		return coalesce // the other half of a rename
	case old == nil && c.entry.Dir:
		return w.newFolder(rel, c, now)
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

// newFolder is wait for a folder that the tree does not have under its name. One that it
// has under another name waits until that was looked at: the event that it left may come
// later than the look into the folder that it is in now.
func (w *watch) newFolder(rel string, c *change, now time.Time) time.Duration {
	old, found := w.v.tree.findFolder(vaultdir.IDOfStamp(c.entry.Stamp))
	if !found || old == rel || now.Sub(c.first) >= lookLimit {
		return 0
	}
	w.mark(old)
	return coalesce
}

// sameFolder makes sure that a folder of the tree is watched. If another folder has taken
// its name, that is no news by itself; what it holds is compared.
func (w *watch) sameFolder(rel string, old *model.SourceEntry, c *change) time.Duration {
	if vaultdir.IDOfStamp(old.Stamp) != vaultdir.IDOfStamp(c.entry.Stamp) {
		w.notifier.forget(rel)
		w.v.tree.record(c.entry)
	}
	w.enter(rel)
	return -1
}
