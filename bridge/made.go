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
// or touched: all of its text is the author's, and pending.
func (n *note) isOwn(by Author) bool {
	n.write.Lock()
	defer n.write.Unlock()
	cur, err := n.load(context.Background())
	if err != nil || cur.readOnly || !n.asInSource(cur) {
		return false
	}
	end, _ := diffwrap.FrontMatter(cur.raw)
	switch {
	case diffwrap.Original(cur.raw[end:]) != "":
		return false
	case len(diffwrap.Suggestions(cur.raw)) == 0: // empty, or nothing but what carries no marks
		return n.bornOf.Name == by.Name && n.onlyBy(by.Name)
	}
	who, err := n.attribution(cur)
	return err == nil && covers(who.ranges(cur.raw, by.Name), 0, len(cur.raw))
}

// asInSource says whether the source holds cur: a person may have saved a moment ago,
// and that is not reported yet. The write lock is held.
func (n *note) asInSource(cur *Version) bool {
	if n.live != nil {
		return true
	}
	at := n.where()
	data, _, err := at.source.Read(context.Background(), at.rel)
	return err == nil && string(data) == cur.raw
}

// onlyBy says whether nobody but the author has ever written in the note, nor had it
// open and changed it as a live document, which people do, nor decided on it.
func (n *note) onlyBy(author string) bool {
	h, err := n.where().store.Load(n.id)
	return err == nil && !slices.ContainsFunc(h.Records, func(r Record) bool {
		return r.Author != author || r.Ahead || r.Decision != nil
	})
}
