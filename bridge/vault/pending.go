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
	coalesce = 20 * time.Millisecond // before the first look at a path, so that one look covers the events of a save
	// saveQuiet is the time for which a file must stay the same before it is reported. With coalesce, a save is visible
	// after about 100 ms.
	saveQuiet = 60 * time.Millisecond
	lookLimit = time.Second // for a file that is written all the time
)

// change is a path that may differ from the tree.
type change struct {
	first    time.Time // when it was marked
	due      time.Time // time of the next check
	seen     vaultdir.StatSample
	entry    model.SourceEntry // as seen, if it exists
	changing bool              // a method of this Vault is changing it
}

func (c *change) there() bool { return c.seen.Err == nil }

func (w *watch) mark(rel string) { w.markAt(rel, time.Now()) }

// markAt is mark for paths that should be checked together.
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

// arm schedules a look at due, or soon after, so that notes saved in quick succession share looks.
func (w *watch) arm(due time.Time) {
	if soonest := w.looked.Add(coalesce); due.Before(soonest) {
		due = soonest
	}
	if w.next.IsZero() || due.Before(w.next) {
		w.next = due
		w.timer.Reset(max(0, time.Until(due)))
	}
}

func (w *watch) rearm() {
	w.next = time.Time{}
	for _, c := range w.pending {
		w.arm(c.due)
	}
}

// checkPending looks at every due path and reports the settled ones: first removals and renames, parents before children, then new and
// changed paths.
func (w *watch) checkPending(now time.Time) {
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

// observe looks at the due paths, drops those without news, and returns the settled ones sorted by name.
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

// observeOne looks at one path. A missing folder loses its watches at once, before its new path can get one.
func (w *watch) observeOne(rel string, c *change, now time.Time) {
	e, err := w.v.folder.Stat(rel)
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

// wait returns how long to leave a path alone: 0 if it has settled, negative if there is no news.
func (w *watch) wait(rel string, c *change, now time.Time, leaving map[vaultdir.ID]string) time.Duration {
	old := w.v.tree.entry(rel)
	left, leaves := leaving[vaultdir.IDOfStamp(c.entry.Stamp)]
	if old != nil && c.there() && otherKind(old, &c.entry) {
		old = nil // it is replaced
	}
	unchanged := now.Sub(c.seen.Since)
	switch {
	case c.changing:
		return coalesce
	case !c.there() && old == nil:
		return -1
	case !c.there():
		return max(0, vanishGrace-unchanged)
	case old == nil && w.v.tree.entry(vaultdir.Parent(rel)) == nil:
		w.mark(vaultdir.Parent(rel))
		return coalesce
	case old == nil && leaves && left != rel: // else the inode was reused
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

// newFolder is wait for a folder that is not in the tree under its name. If it is there under another name, that one is
// looked at first: its event may come later than the look into the folder's new parent.
func (w *watch) newFolder(rel string, c *change, now time.Time) time.Duration {
	old, found := w.v.tree.findFolder(vaultdir.IDOfStamp(c.entry.Stamp))
	if !found || old == rel || now.Sub(c.first) >= lookLimit {
		return 0
	}
	w.mark(old)
	return coalesce
}

// sameFolder watches a folder of the tree. Another folder with the same name is no news by itself; its contents are compared.
func (w *watch) sameFolder(rel string, old *model.SourceEntry, c *change) time.Duration {
	if vaultdir.IDOfStamp(old.Stamp) != vaultdir.IDOfStamp(c.entry.Stamp) {
		w.notifier.forget(rel)
		w.v.tree.record(c.entry)
	}
	w.watchAndCompare(rel)
	return -1
}
