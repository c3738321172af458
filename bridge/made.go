package bridge

import (
	"context"
	"slices"
)

// What a session of an author has just made, and nobody else has used, it may rename
// and take away without asking: what cancels out leaves nothing behind.

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
	own, inside := n.madeBy.is(by), n.sourceChildren()
	w.treeMu.RUnlock()
	return own && !slices.ContainsFunc(inside, func(c *node) bool { return !w.isOwn(c, by) })
}

// usedBy tells d and the folders that it is in that the author has made, moved or
// changed something in there; a person has no name. Who made the folders asks from
// now on, unless that is the same one. treeMu is held.
func (d *node) usedBy(by Author) {
	for ; d != nil; d = d.place().parent {
		if !d.madeBy.is(by) {
			d.madeBy = Author{}
		}
	}
}

// used notes that a person decides on n, in the folders where it is and is shown.
func (w *Workspace) used(n *node) {
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	n.usedBy(Author{})
	n.parent.usedBy(Author{})
}

// isOwn says whether this session of the author made the note, and nobody else has
// touched it or decided on anything in it. Whose text it holds does not tell that: all
// that stands in a person's note may be an agent's.
func (n *note) isOwn(by Author) bool {
	n.lock()
	defer n.write.Unlock()
	if !n.bornOf.is(by) {
		return false
	}
	_, _, err := n.onlyBy(context.Background(), by.is)
	return err == nil
}

// onlyBy is the note's current version and its stamp if its authors, and nobody else,
// have ever written in it; else ErrConflict. The write lock is held.
func (n *note) onlyBy(ctx context.Context, theirs func(Author) bool) (*Version, Stamp, error) {
	cur, err := n.load(ctx)
	if err != nil {
		return nil, Stamp{}, err
	}
	var stamp Stamp
	if n.live == nil {
		if stamp, err = n.unchanged(ctx, cur); err != nil {
			return nil, Stamp{}, err
		}
	}
	h, err := n.where().store.Load(n.id)
	if err == nil && (cur.ReadOnly() || !h.onlyBy(theirs) || n.live == nil && !h.leadsTo(cur.Raw())) {
		err = ErrConflict
	}
	return cur, stamp, err
}

// unchanged is the stamp of the file in the source if that holds cur; else
// ErrConflict: a person may have saved a moment ago, and that is not reported yet.
// The write lock is held.
func (n *note) unchanged(ctx context.Context, cur *Version) (Stamp, error) {
	at := n.where()
	data, stamp, err := at.source.Read(ctx, at.rel)
	if err == nil && string(data) != cur.Raw() {
		err = ErrConflict
	}
	return stamp, err
}
