package vault

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/folder"
)

// How changes are put together.
const (
	// coalesce is how long the first look at a path waits, so that the several
	// events of one save are one look.
	coalesce = 20 * time.Millisecond
	// saveQuiet is how long a file must stay the same before it is reported. With
	// coalesce it makes a save visible about 100 ms after its last step.
	saveQuiet = 60 * time.Millisecond
	// lookLimit bounds the wait for a file that is written all the time.
	lookLimit = time.Second
)

// change is a path that may differ from what is known.
type change struct {
	first time.Time // when it was marked
	due   time.Time // of the next look
	seen  folder.Sighting
	entry model.SourceEntry // what was seen, if it was there
	busy  bool              // a method of this Vault was at work on it
}

func (c *change) there() bool { return c.seen.Err == nil }

// mark says that a path is worth a look.
func (w *watch) mark(rel string) { w.markAt(rel, time.Now()) }

// markAt is mark for paths that are to be looked at together.
func (w *watch) markAt(rel string, now time.Time) {
	if rel == "" || w.offline || folder.Reserved(rel) {
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

// arm makes sure that a look happens at due, or soon after: somebody who saves one
// note after the other is not looked at after each of them.
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

// look looks at every path that is due and reports what has settled: what is
// gone or elsewhere first, parents before children, then what is new or changed.
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
		arrivals := w.arrivals()
		for _, rel := range ready {
			switch c := w.pending[rel]; {
			case c == nil:
			case c.there():
				w.giveWay(rel, c, arrivals)
			default:
				w.gone(rel, arrivals)
			}
		}
		for _, rel := range ready {
			if c := w.pending[rel]; c != nil && c.there() {
				w.appeared(rel, c)
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
	leaving := w.leaving()
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
	e, err := w.v.folder.Look(rel)
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

// wait says how long to leave a path alone: 0 is not at all, a negative wait is
// for good, because there is no news.
func (w *watch) wait(rel string, c *change, now time.Time, leaving map[folder.ID]string) time.Duration {
	known := w.v.tree.entry(rel)
	left, leaves := leaving[folder.IDOfStamp(c.entry.Stamp)]
	if known != nil && c.there() && otherKind(known, &c.entry) {
		known = nil // it gives way
	}
	unchanged := now.Sub(c.seen.Since)
	switch {
	case c.busy:
		return coalesce
	case !c.there() && known == nil:
		return -1
	case !c.there():
		return max(0, vanishGrace-unchanged)
	case known == nil && w.v.tree.entry(folder.Parent(rel)) == nil:
		w.mark(folder.Parent(rel))
		return coalesce
	case known == nil && leaves && left != rel: // else the number of what was here is used again
		return coalesce // the other half of a rename
	case known == nil && c.entry.Dir:
		return w.newFolder(rel, c, now)
	case known != nil && known.Dir && c.entry.Dir:
		return w.sameFolder(rel, known, c)
	case known != nil && known.Stamp == c.entry.Stamp:
		return -1
	case now.Sub(c.first) >= lookLimit:
		return 0
	case c.entry.Stamp.Size == 0 && known != nil && known.Stamp.Size > 0:
		return max(0, folder.SettleLimit-unchanged)
	}
	return max(0, saveQuiet-unchanged)
}

// newFolder is wait for a folder that is not known under its name. One that is known
// under another waits until that was looked at: what tells that it left may come later
// than the look into the folder that it is in now.
func (w *watch) newFolder(rel string, c *change, now time.Time) time.Duration {
	old, known := w.v.tree.findFolder(folder.IDOfStamp(c.entry.Stamp))
	if !known || old == rel || now.Sub(c.first) >= lookLimit {
		return 0
	}
	w.mark(old)
	return coalesce
}

// sameFolder makes sure that a known folder is watched. That another folder has
// taken its name is no news by itself; what it holds is compared.
func (w *watch) sameFolder(rel string, known *model.SourceEntry, c *change) time.Duration {
	if folder.IDOfStamp(known.Stamp) != folder.IDOfStamp(c.entry.Stamp) {
		w.notifier.forget(rel)
		w.v.tree.learn(c.entry)
	}
	w.enter(rel)
	return -1
}
