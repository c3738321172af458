package bridge

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
)

// What a session of an author has just made, and nobody else has used, it may rename
// and take away without asking: what cancels out leaves nothing behind.

// isOwn says whether n is the author's own so far.
func (w *Workspace) isOwn(n *node, by model.Author) bool {
	switch {
	case by.Name == "" || w.o.ReadOnly:
		return false
	case n.kind == model.KindDir:
		return w.isOwnFolder(n, by)
	}
	return n.kind == model.KindNote && n.note.isOwn(by)
}

// isOwnFolder says whether the author made the folder in this process, and all that
// is in it.
func (w *Workspace) isOwnFolder(n *node, by model.Author) bool {
	w.treeMu.RLock()
	own, inside := n.madeBy.Is(by), n.sourceChildren()
	w.treeMu.RUnlock()
	return own && !slices.ContainsFunc(inside, func(c *node) bool { return !w.isOwn(c, by) })
}

// usedBy tells d and the folders that it is in that the author has made, moved or
// changed something in there; a person has no name. Who made the folders asks from
// now on, unless that is the same one. treeMu is held.
func (d *node) usedBy(by model.Author) {
	for ; d != nil; d = d.place().parent {
		if !d.madeBy.Is(by) {
			d.madeBy = model.Author{}
		}
	}
}

// used notes that a person decides on n, in the folders where it is and is shown.
func (w *Workspace) used(n *node) {
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	n.usedBy(model.Author{})
	n.parent.usedBy(model.Author{})
}

// isOwn says whether this session of the author made the note, and nobody else has
// touched it or decided on anything in it. Whose text it holds does not tell that: all
// that stands in a person's note may be an agent's.
func (n *note) isOwn(by model.Author) bool {
	n.write.Lock()
	defer n.write.Unlock()
	if !n.bornOf.Is(by) {
		return false
	}
	_, _, err := n.onlyBy(context.Background(), by.Is)
	return err == nil
}

// onlyBy is the note's current version and its stamp if its authors, and nobody else,
// have ever written in it; else ErrConflict. The write lock is held.
func (n *note) onlyBy(ctx context.Context, theirs func(model.Author) bool) (*model.Version, model.Stamp, error) {
	cur, err := n.load(ctx)
	if err != nil {
		return nil, model.Stamp{}, err
	}
	var stamp model.Stamp
	if n.live == nil {
		if stamp, err = n.unchanged(ctx, cur); err != nil {
			return nil, model.Stamp{}, err
		}
	}
	h, err := n.where().store.Load(n.id)
	if err == nil && (cur.ReadOnly() || !h.OnlyBy(theirs) || n.live == nil && !h.LeadsTo(cur.Raw())) {
		err = model.ErrConflict
	}
	return cur, stamp, err
}

// unchanged is the stamp of the file in the source if that holds cur; else
// ErrConflict: a person may have saved a moment ago, and that is not reported yet.
// The write lock is held.
func (n *note) unchanged(ctx context.Context, cur *model.Version) (model.Stamp, error) {
	at := n.where()
	data, stamp, err := at.source.Read(ctx, at.rel)
	if err == nil && string(data) != cur.Raw() {
		err = model.ErrConflict
	}
	return stamp, err
}
