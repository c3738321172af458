package proposal

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/tree"
)

// A proposal is stale when a person changed what it is about since it was made.
// What relayfs itself writes there, suggestions and decisions on them, does not
// count.

// noticeChange marks the proposals about n stale if the source's news of it are a
// person's, and says whether it did. It comes before the note takes the person's
// text over.
func (l *Locked) noticeChange(ctx context.Context, n *tree.Node) bool {
	st := n.State()
	waiting := slices.DeleteFunc([]*tree.Proposal{st.Pending, st.Content}, func(p *tree.Proposal) bool { return p == nil || p.Record().Stale })
	if len(waiting) == 0 || !changedByPerson(ctx, n, waiting[0].Record()) {
		return false
	}
	for _, p := range waiting {
		p.Update(func(rec *model.ProposalRecord) { rec.Stale = true })
	}
	return true
}

// changedByPerson compares what the source has with what the proposal was made about, and
// with what relayfs wrote there since.
func changedByPerson(ctx context.Context, n *tree.Node, p model.ProposalRecord) bool {
	switch n.Kind {
	case model.KindDir:
		return false
	case model.KindFile, model.KindLink:
		st := n.State()
		return !st.Virtual && (st.Size != p.Stamp.Size || st.ModTime.UnixNano() != p.Stamp.ModTime)
	}
	return n.Note.ChangedByPerson(ctx, p.Stamp, p.Sum)
}
