package bridge

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/diffwrap"
)

// What an author has just made, and nobody else has used, it may rename and take
// away without asking: what cancels out leaves nothing behind.

// isOwn says whether n is the author's own so far.
func (w *Workspace) isOwn(n *node, by Author) bool {
	switch {
	case by.Name == "" || w.o.ReadOnly:
		return false
	case n.kind == KindDir:
		return w.isOwnFolder(n, by)
	}
	return n.kind == KindNote && n.note.isOwn(by)
}

// isOwnFolder says whether the author made the folder in this process, and all that
// is in it.
func (w *Workspace) isOwnFolder(n *node, by Author) bool {
	w.treeMu.RLock()
	own, inside := n.madeBy == by.Name, n.sourceChildren()
	w.treeMu.RUnlock()
	return own && !slices.ContainsFunc(inside, func(c *node) bool { return !w.isOwn(c, by) })
}

// usedBy tells d and the folders that it is in that the author has made, moved or
// changed something in there; a person has no name. Who made the folders asks from
// now on, unless that is the same one. treeMu is held.
func (d *node) usedBy(name string) {
	for ; d != nil; d = d.place().parent {
		if d.madeBy != name {
			d.madeBy = ""
		}
	}
}

// used notes that a person decides on n, in the folders where it is and is shown.
func (w *Workspace) used(n *node) {
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	n.usedBy("")
	n.parent.usedBy("")
}

// isOwn says whether the note is one that the author made and nobody has accepted
// or touched.
func (n *note) isOwn(by Author) bool {
	n.lock()
	defer n.write.Unlock()
	ctx := context.Background()
	cur, err := n.load(ctx)
	if err != nil || cur.readOnly || !n.isAllBy(cur, by.Name) {
		return false
	}
	if n.live != nil {
		return true
	}
	_, err = n.unchanged(ctx, cur)
	return err == nil
}

// isAllBy says whether all text of cur is the author's, and pending. The write lock
// is held.
func (n *note) isAllBy(cur *Version, author string) bool {
	end, _ := diffwrap.FrontMatter(cur.raw)
	switch {
	case diffwrap.Original(cur.raw[end:]) != "":
		return false
	case len(diffwrap.Suggestions(cur.raw)) == 0: // empty, or nothing but what carries no marks
		return n.bornOf.Name == author && n.onlyBy(author)
	}
	who, err := n.attribution(cur)
	return err == nil && covers(who.ranges(cur.raw, author), 0, len(cur.raw))
}

// unchanged is the stamp of the file in the source if that holds cur; else
// ErrConflict: a person may have saved a moment ago, and that is not reported yet.
// The write lock is held.
func (n *note) unchanged(ctx context.Context, cur *Version) (Stamp, error) {
	at := n.where()
	data, stamp, err := at.source.Read(ctx, at.rel)
	if err == nil && string(data) != cur.raw {
		err = ErrConflict
	}
	return stamp, err
}

// onlyBy says whether nobody but the author has ever written in the note, nor had it
// open and changed it as a live document, which people do, nor decided on it.
func (n *note) onlyBy(author string) bool {
	h, err := n.where().store.Load(n.id)
	return err == nil && !slices.ContainsFunc(h.Records, func(r Record) bool {
		return r.Author != author || r.Ahead || r.Decision != nil
	})
}
