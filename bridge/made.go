package bridge

import (
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
	return n.kind == model.KindNote && n.note.IsOwn(by)
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
