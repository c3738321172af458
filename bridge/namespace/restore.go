package namespace

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
)

// Start reads the source into the tree, restores the proposals of earlier processes, and completes the operations that
// a crash has interrupted.
func (f *Root) Start(ctx context.Context) error {
	if err := f.Source.Scan(ctx, f.PutScanned); err != nil {
		return err
	}
	if err := f.restore(ctx); err != nil {
		return err
	}
	return f.recoverNotes(ctx)
}

// recoverNotes writes stored text to the files that lack the text because of a crash.
func (f *Root) recoverNotes(ctx context.Context) error {
	if _, live := f.Source.(model.Documents); live {
		return nil
	}
	unsettled, err := f.Store.Unsettled()
	if err != nil {
		return err
	}
	for _, p := range unsettled {
		n := f.Lookup(string(p))
		if n == nil || n.Note == nil {
			continue
		}
		if _, err := n.Note.Version(ctx); err != nil { // a reader gets the same error
			f.log.Warn("note not recovered", model.LogPath, string(n.Location().Path), model.LogErr, err)
		}
	}
	return nil
}

// restore adds the pending proposals of earlier processes to the tree, which shows only the source so far. The tree has
// no readers yet, so restore publishes no events.
func (f *Root) restore(ctx context.Context) error {
	recs, err := f.Store.Proposals()
	recs = slices.DeleteFunc(recs, func(rec model.ProposalRecord) bool {
		switch rec.Kind {
		case model.RenameDone:
			f.completed = append(f.completed, rec)
		case model.DecisionStarted:
			f.started = append(f.started, rec)
		default:
			return false
		}
		return true
	})
	if err == nil {
		recs, err = f.recoverAll(ctx, recs)
	}
	if err != nil || len(recs) == 0 {
		return err
	}
	l := f.Lock()
	defer l.Unlock()
	l.Overlay(recs)
	for _, p := range l.Pending() {
		l.markStale(ctx, p.Node)
	}
	l.restoreNames(ctx, l.Pending())
	l.PersistChanges()
	l.queuedEvents = nil
	return nil
}

// recoverAll determines the outcomes of decisions that a crash interrupted.
func (f *Root) recoverAll(ctx context.Context, recs []model.ProposalRecord) ([]model.ProposalRecord, error) {
	var change model.ProposalChange
	var left []model.ProposalRecord
	for i := range recs {
		rec := &recs[i]
		if rec.MovingTo != "" && f.Lookup(rec.Rel) == nil && f.Lookup(rec.MovingTo) != nil {
			if err := f.Store.Rename(model.Path(rec.Rel), model.Path(rec.MovingTo)); err != nil {
				return nil, err
			}
			rec.MovedToTempName()
			f.syncDone(ctx, rec)
		}
		d := rec.PendingDecision
		if d == nil && rec.MovingTo == "" {
			left = append(left, *rec)
			continue
		}
		rec.PendingDecision, rec.MovingTo = nil, ""
		pending, decided := f.recoverOne(ctx, rec, d)
		if decided {
			f.syncDone(ctx, rec)
			change.Journal = append(change.Journal, rec.Decided(*d, time.Now().UTC()))
		}
		if decided && rec.Kind == model.ProposedDelete && model.Path(rec.Rel).IsNote() && d.Verdict == model.Accepted {
			if err := f.Store.End(model.Path(rec.Rel)); err != nil {
				return nil, err
			}
		}
		if decided && rec.Kind == model.ProposedRename {
			from, to := rec.Rel, rec.To()
			if pending {
				from, to = to, from
			}
			if err := f.Store.Rename(model.Path(from), model.Path(to)); err != nil {
				return nil, err
			}
			own := *rec
			for _, list := range [][]model.ProposalRecord{recs, left} {
				for k := range list {
					list[k].Rebase(from, to)
				}
			}
			*rec = own
			change.Upserted = append(change.Upserted, left...)
		}
		if pending {
			left = append(left, *rec)
			change.Upserted = append(change.Upserted, *rec)
			continue
		}
		if decided && rec.Kind == model.ProposedRename && d.Verdict == model.Accepted {
			done := decidedRename(*rec, rec.PendingRelinks, *d, "")
			change.Upserted, f.completed = append(change.Upserted, done), append(f.completed, done)
		}
		change.Removed = append(change.Removed, rec.ID)
	}
	if len(change.Upserted)+len(change.Removed) == 0 {
		return left, nil
	}
	return left, f.Store.Propose(change)
}

// syncDone makes the source's changes for a proposal durable before the store records them. The process that made them
// may have been killed before it synced.
func (f *Root) syncDone(ctx context.Context, rec *model.ProposalRecord) {
	rels := []string{string(model.Path(rec.Rel).Dir()), string(model.Path(rec.To()).Dir())}
	if rec.Kind == model.ProposedFile && rec.Rel != "" {
		rels = []string{rec.Rel}
	}
	for _, rel := range rels {
		if err := f.sync(ctx, rel); err != nil {
			f.log.Warn("not synced: a power cut may undo a decision", model.LogPath, rel, model.LogErr, err)
		}
	}
}

// recoverOne reports whether the proposal is pending, and whether the interrupted decision was applied. After an
// acceptance that was applied the proposal is not pending; after an undo that was applied it is pending.
func (f *Root) recoverOne(ctx context.Context, rec *model.ProposalRecord, d *model.Decision) (pending, decided bool) {
	if d == nil {
		return true, false
	}
	there := f.Lookup(rec.Rel) != nil
	done := !there
	switch rec.Kind {
	case model.ProposedRename:
		done = !there && f.Lookup(rec.To()) != nil
	case model.ProposedFile:
		rel := rec.Rel
		if rel == "" {
			rel = rec.To()
		}
		data, _, err := f.Source.Read(ctx, rel)
		done = err == nil && bytes.Equal(data, rec.New)
	}
	if d.Verdict == model.Undone {
		return !done, !done
	}
	return !done, done
}
