package review

import (
	"context"
	"errors"
	"maps"
	"slices"
	"syscall"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
)

// intent is a decision or an undo of several steps. The stores of the roots have its records until all steps are done,
// so that neither a crash nor a failing disk leaves out some of them. It has no roots if one step is enough.
type intent struct {
	records []model.ProposalRecord // DecisionStarted
	roots   []*namespace.TreeRoot
}

func (r *Review) store(x intent) error {
	for _, f := range x.roots {
		if err := f.Store.Propose(model.ProposalChange{Upserted: x.records}); err != nil {
			r.remove(x)
			return model.WrapError("decide", f.Path(), err)
		}
	}
	return nil
}

func (r *Review) remove(x intent) {
	var done model.ProposalChange
	for _, rec := range x.records {
		done.Removed = append(done.Removed, rec.ID)
	}
	for _, f := range x.roots {
		if err := f.Store.Propose(done); err != nil {
			r.config.Logger.Warn("the next process will check a decision again", model.LogFolder, f.Name, model.LogErr, err)
		}
	}
}

// finish removes the intent. If the disk has failed in some steps but not in all, it first tries the failed steps
// again. If the disk still fails, the intent stays for the next decision or the next process. before is the outcome
// before the first step.
func (r *Review) finish(ctx context.Context, x intent, before Outcome, out *Outcome) {
	isPartial := func() bool {
		return len(x.roots) > 0 && out.Notes > before.Notes && slices.ContainsFunc(slices.Collect(maps.Values(out.Failed)), diskFailed)
	}
	if isPartial() {
		out.Failed = before.Failed
		for _, rec := range x.records {
			if err := r.resume(ctx, rec, out); err != nil {
				r.config.Logger.Warn("an interrupted decision is not complete", "batch", rec.Decision.Batch, model.LogErr, err)
			}
		}
	}
	if !isPartial() {
		r.remove(x)
		return
	}
	for _, f := range x.roots {
		r.config.Roots[f].KeepStarted(x.records...)
	}
}

func diskFailed(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, model.ErrNoSpace)
}

// ResumeDecisions completes the decisions and undos that a crash or a failing disk has interrupted.
func (r *Review) ResumeDecisions(ctx context.Context) {
	if r.config.ReadOnly {
		return
	}
	for _, f := range r.tree.Roots() {
		for _, rec := range r.config.Roots[f].TakeStarted() {
			out := newOutcome()
			out.Batch = rec.Decision.Batch
			err := r.resume(ctx, rec, &out)
			r.names.RemoveRejected(ctx, out.notes, out.folders)
			if err = errors.Join(append(slices.Collect(maps.Values(out.Failed)), err)...); err != nil {
				r.config.Logger.Warn("an interrupted decision is not complete", "batch", out.Batch, model.LogErr, err)
			}
			if diskFailed(err) || errors.Is(err, model.ErrOffline) || errors.Is(err, model.ErrReadOnly) {
				r.config.Roots[f].KeepStarted(rec)
				continue
			}
			r.remove(intent{[]model.ProposalRecord{rec}, []*namespace.TreeRoot{f}})
		}
	}
}

func (r *Review) resume(ctx context.Context, rec model.ProposalRecord, out *Outcome) error {
	if rec.Decision.Verdict == model.Undone {
		return r.resumeUndo(ctx, rec.Decision, out)
	}
	return r.resumeDecision(ctx, rec, out)
}
