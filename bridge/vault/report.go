package vault

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/vault/internal/vaultdir"
)

// This file reports settled changes: renames by the inode, removals with children first, and creations with parents
// first.

// take reports the change that next makes in the tree. The receiver calls next when this process can change no names.
// If this process has moved the names since the change was seen, next returns false. The change of a moved folder's
// contents is then found when the folder is compared at its new path.
func (w *watch) take(next func() (model.SourceEvent, bool)) (taken bool) {
	w.report(model.SourceEvent{Next: func() (ev model.SourceEvent, ok bool) {
		ev, taken = next()
		return ev, taken
	}})
	return taken
}

func otherKind(a, b *model.SourceEntry) bool {
	return a.Dir != b.Dir || (a.Link == "") != (b.Link == "")
}

// isMoved reports whether the unknown entry at rel was moved there: the tree has its inode under another name, which is
// missing now or has an entry of another type. isMoved checks that name itself, because its event may come later.
func (w *watch) isMoved(rel string, c *change, now time.Time) bool {
	from, ok := w.v.tree.pathOf(c.entry.Stamp)
	if !ok || from == rel {
		return false
	}
	w.mark(from)
	old := w.pending[from]
	if old.there() {
		w.observeOne(from, old, now)
	}
	return !old.there() || otherKind(&old.entry, &c.entry)
}

// isUnknown reports whether e is not the file or folder that the tree has under the name of e. old is the entry of the
// tree, or nil. For a folder that replaces a folder it returns false, because sameFolder compares the two.
func isUnknown(old, e *model.SourceEntry) bool {
	return old == nil || otherKind(old, e) || !e.Dir && vaultdir.IDOfStamp(old.Stamp) != vaultdir.IDOfStamp(e.Stamp)
}

// unknown returns the pending files and folders that the tree does not have under their names.
func (w *watch) unknown() map[vaultdir.ID]string {
	at := make(map[vaultdir.ID]string)
	for rel, c := range w.pending {
		if !c.seen.Since.IsZero() && c.there() && isUnknown(w.v.tree.entry(rel), &c.entry) {
			at[vaultdir.IDOfStamp(c.entry.Stamp)] = rel
		}
	}
	return at
}

// gone reports that a path was renamed, if its inode has another path now. Otherwise it reports that the path and
// everything below it was removed.
func (w *watch) gone(rel string, arrivals map[vaultdir.ID]string) {
	delete(w.pending, rel)
	old := w.v.tree.entry(rel)
	if old == nil {
		return // the entry was removed together with its folder
	}
	newRel, ok := arrivals[vaultdir.IDOfStamp(old.Stamp)]
	c := w.pending[newRel]
	if ok && c != nil && isSameInode(*old, c.entry) && w.v.tree.entry(model.Parent(newRel)) != nil {
		w.renamed(old, newRel, c)
		return
	}
	for _, e := range w.v.tree.under(rel) {
		delete(w.pending, e.Rel)
		w.take(func() (model.SourceEvent, bool) {
			has := w.v.tree.has(e)
			if has {
				w.v.tree.forget(e.Rel)
			}
			return model.SourceEvent{Kind: model.EventRemoved, Rel: e.Rel, Entry: model.SourceEntry{Rel: e.Rel, Dir: e.Dir}}, has
		})
	}
}

// isSameInode reports whether b, which has the inode number of a, is the same file as a. The check is needed because
// disks reuse the inodes of deleted files. If the disk records no birth times, a changed file counts as another file.
func isSameInode(a, b model.SourceEntry) bool {
	return !otherKind(&a, &b) && (a.Dir || isSameState(a, b) || a.Stamp.Birth != 0 && a.Stamp.IsFile(b.Stamp))
}

func isSameState(a, b model.SourceEntry) bool {
	return a.Stamp.Size == b.Stamp.Size && a.Stamp.ModTime == b.Stamp.ModTime
}

// exchanged returns rel, which was just observed, and the other names with which its file has exchanged its name: each
// name has the file that the tree has under the next one. It returns nil if there are none. Names with other extensions do
// not count: a program may save a file by an exchange with a temporary file.
func (w *watch) exchanged(rel string, now time.Time) (names []string) {
	for at := rel; ; {
		c := w.pending[at]
		next, ok := w.v.tree.pathOf(c.entry.Stamp)
		if c.changing || !c.there() || c.entry.Dir || !ok || path.Ext(next) != path.Ext(at) {
			return nil
		}
		names = append(names, at)
		switch {
		case next == rel && len(names) > 1:
			return names
		case slices.Contains(names, next):
			return nil
		}
		at = next
		w.mark(at)
		w.observeOne(at, w.pending[at], now)
	}
}

// reportExchanged reports names that have exchanged their files as renames, the first of them by a name that no file has.
func (w *watch) reportExchanged(names []string) {
	ext := path.Ext(names[0])
	free := strings.TrimSuffix(names[0], ext)
	for free += " 1"; w.v.tree.entry(free+ext) != nil; free += " 1" {
	}
	old := w.v.tree.entry(names[0])
	if old == nil { // this process has moved it
		return
	}
	first := *old
	first.Rel = free + ext
	last := len(names) - 1
	w.renamed(old, first.Rel, &change{entry: first})
	for i, to := range names[:last] {
		w.renamed(w.v.tree.entry(names[i+1]), to, w.pending[to])
	}
	w.renamed(w.v.tree.entry(first.Rel), names[last], w.pending[names[last]])
}

// renamed reports that old is at newRel now. If it has changed since, newRel stays pending. old is nil if this process has
// moved the entry.
func (w *watch) renamed(old *model.SourceEntry, newRel string, c *change) {
	if old == nil {
		return
	}
	oldRel := old.Rel
	same := old.Dir || isSameState(*old, c.entry)
	if !w.take(func() (ev model.SourceEvent, ok bool) {
		if !w.v.tree.has(*old) || w.v.tree.entry(model.Parent(newRel)) == nil {
			return ev, false
		}
		if w.v.tree.move(oldRel, newRel); same {
			w.v.tree.record(c.entry)
		}
		return model.SourceEvent{Kind: model.EventRenamed, Rel: newRel, OldRel: oldRel, Entry: c.entry}, true
	}) {
		w.mark(oldRel)
		w.mark(newRel)
		return
	}
	if same {
		delete(w.pending, newRel)
	}
	for rel := range w.pending {
		if vaultdir.Below(oldRel, rel) {
			delete(w.pending, rel)
		}
	}
	if c.entry.Dir {
		w.watchAndCompare(newRel)
	}
}

// reportReplaced reports that the file or folder at a path was removed or renamed, if the path has an entry of another
// type now. The new entry is checked next.
func (w *watch) reportReplaced(rel string, c *change, arrivals map[vaultdir.ID]string) {
	old := w.v.tree.entry(rel)
	if old == nil || !otherKind(old, &c.entry) {
		return
	}
	w.notifier.forget(rel)
	w.gone(rel, arrivals)
	w.pending[rel] = c
}

func (w *watch) reportAppeared(rel string, c *change) {
	delete(w.pending, rel)
	known := w.v.tree.entry(rel) != nil
	if !w.take(func() (ev model.SourceEvent, ok bool) {
		ev = model.SourceEvent{Kind: model.EventChanged, Rel: rel, Entry: c.entry}
		switch there := w.v.tree.entry(rel) != nil; {
		case known && !there: // renamed by this process, which has recorded the new state
			ev.Rel, ok = w.v.tree.pathOf(c.entry.Stamp)
			ev.Entry.Rel = ev.Rel
			return ev, ok
		case known != there, w.v.tree.entry(model.Parent(rel)) == nil:
			return ev, false
		case !known:
			ev.Kind = model.EventCreated
		}
		w.v.tree.record(c.entry)
		return ev, true
	}) {
		w.mark(rel)
		return
	}
	if c.entry.Dir {
		w.watchAndCompare(rel)
		w.dueNow(rel)
	}
}

// dueNow makes the contents of a new folder due immediately.
func (w *watch) dueNow(dir string) {
	for rel, c := range w.pending {
		if strings.HasPrefix(rel, dir+"/") {
			c.due = time.Time{}
		}
	}
}
