package bridge

import (
	"context"

	"github.com/relayfs/relayfs/bridge/model"
)

// A proposal is stale when a person changed what it is about since it was made.
// What relayfs itself writes there, suggestions and decisions on them, does not
// count.

// noticeChange marks the proposals about n stale if the source's news of it are a
// person's, and says whether it did. It comes before the note takes the person's
// text over.
func (w *Workspace) noticeChange(ctx context.Context, n *node) bool {
	w.treeMu.RLock()
	waiting := n.waiting()
	w.treeMu.RUnlock()
	if len(waiting) == 0 || !w.changedByPerson(ctx, n, waiting[0]) {
		return false
	}
	w.treeMu.Lock()
	defer w.treeMu.Unlock()
	for _, p := range waiting {
		p.rec.Stale = true
	}
	return true
}

// waiting are the proposals about n that are not stale yet. treeMu is held.
func (n *node) waiting() []*proposal {
	var list []*proposal
	for _, p := range []*proposal{n.pending, n.content} {
		if p != nil && !p.rec.Stale {
			list = append(list, p)
		}
	}
	return list
}

// changedByPerson compares what the source has with what p was made about, and
// with what relayfs wrote there since.
func (w *Workspace) changedByPerson(ctx context.Context, n *node, p *proposal) bool {
	switch n.kind {
	case model.KindDir:
		return false
	case model.KindFile, model.KindLink:
		w.treeMu.RLock()
		defer w.treeMu.RUnlock()
		return !n.virtual() && (n.size != p.rec.Stamp.Size || n.modTime.UnixNano() != p.rec.Stamp.ModTime)
	}
	return n.note.ChangedByPerson(ctx, p.rec.Stamp, p.rec.Sum)
}
