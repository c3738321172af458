package namespace

import (
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace/internal/tree"
)

// Decided is the result of a decision on proposals of one root.
type Decided struct {
	Proposals []model.Proposal // the decided proposals, as they were before the decision
	Missing   []string         // IDs of proposals that are no longer pending
	Failed    map[model.Path]error
}

// Decide decides on proposals of the root. It accepts a stale proposal only if force is set; otherwise it returns
// model.ErrStale for it. It does not accept a proposal whose name is taken because of another proposal
// (model.ErrNameTaken).
func (f *Root) Decide(ctx context.Context, list []*tree.Proposal, d model.Decision, force bool) Decided {
	l := f.Lock()
	defer l.Unlock()
	out := Decided{Failed: make(map[model.Path]error)}
	public := make(map[*tree.Proposal]model.Proposal)
	lost := make(map[string]string) // by proposal ID; see ProposalRecord.LostRel
	// A failing disk may have kept an earlier decision from restoring names.
	l.restoreNames(context.WithoutCancel(ctx))
	pending := l.Pending()
	list = slices.DeleteFunc(slices.Clone(list), func(p *tree.Proposal) bool {
		if !slices.Contains(pending, p) {
			out.Missing = append(out.Missing, p.ID)
			return true
		}
		public[p] = p.Public()
		if rec := p.Record(); d.Verdict == model.Accepted {
			lost[p.ID] = rec.From()
		} else {
			_, lost[p.ID] = public[p].NewPath.Split()
		}
		return false
	})
	var failed map[*tree.Proposal]error
	if d.Verdict == model.Accepted {
		failed = acceptOp{l, d, force, lost}.all(context.WithoutCancel(ctx), list)
	} else {
		failed = l.reject(list, d, lost)
	}
	for _, p := range list {
		pub := public[p]
		if err := failed[p]; err != nil {
			out.Failed[pub.Path] = err
			continue
		}
		out.Proposals = append(out.Proposals, pub)
		l.QueueEvents(model.Event{Kind: model.EventPending, Path: pub.Path, Dir: pub.Dir})
	}
	return out
}

// reject rejects the proposals in one step and shows each renamed node at its source path again. A proposal stays
// pending if another proposal that is not rejected has taken that path; the result has its error.
func (l *Locked) reject(chosen []*tree.Proposal, d model.Decision, lost map[string]string) map[*tree.Proposal]error {
	failed := make(map[*tree.Proposal]error)
	for _, p := range l.Unrevertable(chosen) {
		failed[p] = l.nameTakenErr(p.Node.Location().Rel)
	}
	var change model.ProposalChange
	var going []*tree.Proposal
	now := time.Now().UTC()
	for _, p := range chosen {
		if failed[p] == nil {
			rec := p.Record()
			change.Removed = append(change.Removed, rec.ID)
			change.Journal = append(change.Journal, rec.Decided(d, now))
			if rec.Kind == model.ProposedRename {
				change.Upserted = append(change.Upserted, decidedRename(rec, rec.PendingRelinks, d, lost[rec.ID]))
			}
			going = append(going, p)
		}
	}
	if err := l.Store.Propose(change); err != nil {
		for _, p := range chosen {
			failed[p] = err
		}
		return failed
	}
	l.completed = append(l.completed, change.Upserted...)
	l.QueueEvents(l.RevertAll(going)...)
	return failed
}
