package note

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/diffwrap"
)

func HasMarks(v *model.Version) bool {
	return !v.ReadOnly() && attribution.MarksIn(v.Canonical())
}

// Threads lists the suggestions and comment threads of the note, and returns the version that has them. p is the note's
// path, or its path before its deletion was proposed. Callers must not change the lists.
func (n *Note) Threads(ctx context.Context, p model.Path) (*model.Version, []model.Suggestion, []model.Thread, error) {
	l := n.Lock()
	defer l.Unlock()
	current, err := l.load(ctx)
	if err != nil || !HasMarks(current) {
		return current, nil, nil, err
	}
	list, x, err := l.Suggestions(p, current)
	if err != nil {
		return nil, nil, nil, err
	}
	return current, list, x.Threads(p, list), nil
}

// Suggestions lists the suggestions of current and returns its layout. Callers must not change the list.
func (n *Locked) Suggestions(p model.Path, current *model.Version) ([]model.Suggestion, *attribution.Layout, error) {
	x, err := n.Layout(current)
	if err != nil {
		return nil, nil, model.WrapError("open", p, err)
	}
	if n.cachedLayout.layout == x && n.cachedLayout.path == p {
		return n.cachedLayout.list, x, nil
	}
	list := x.List(p)
	if n.set.o.Mode == Direct { // in this mode no comment is pending
		list = slices.DeleteFunc(list, func(s model.Suggestion) bool { return s.Kind == diffwrap.Comment })
	}
	if n.cachedLayout.layout == x {
		n.cachedLayout.list, n.cachedLayout.path = list, p
	}
	return list, x, nil
}

// Outcomes returns the last decision on each mark of an earlier version. An entry is nil if there is no decision.
func (n *Note) Outcomes(since *model.Version, marks []diffwrap.Suggestion) ([]*attribution.Outcome, error) {
	l := n.Lock()
	defer l.Unlock()
	x, err := l.layoutSince(since)
	if err != nil {
		return nil, err
	}
	out := make([]*attribution.Outcome, len(marks))
	for i := range marks {
		out[i] = x.OutcomeOf(marks[i])
	}
	return out, nil
}

// layoutSince returns the layout of an earlier version, with the decisions that were made since.
func (n *Locked) layoutSince(since *model.Version) (*attribution.Layout, error) {
	t, err := n.currentTable()
	if err != nil {
		return nil, err
	}
	if since.Runs() == nil && n.id != "" {
		since.SetRuns(n.runsOf(since))
	}
	return t.LayOut(since.Known(), t.UnitsOf(since.Raw(), since.Runs()).AfterEdits(since.CanonicalEdits())), nil
}

// withoutRejected returns an earlier version without the suggestions that a user has rejected since.
func (n *Locked) withoutRejected(since *model.Version) *model.Version {
	x, err := n.layoutSince(since)
	if err != nil {
		return since
	}
	rejected := slices.DeleteFunc(since.Suggestions(), func(s diffwrap.Suggestion) bool {
		out := x.OutcomeOf(s)
		return out == nil || out.Verdict != model.Rejected || out.Withdrawn
	})
	edits := since.Known().Decide(x.Raw, false, func(diffwrap.Attached) bool { return true }, rejected...)
	if len(edits) == 0 {
		return since
	}
	v := model.NewVersion(diffwrap.Apply(x.Raw, edits), n.set.o.View, since.ModTime())
	known := since.Known().AfterEdits(x.Raw, edits)
	v.Attribute(known, nil, known)
	v.SetRuns(x.AfterEdits(edits).Runs)
	return v
}

// PlanUndo plans the undo of the items of d in a journal entry. It records the outcome in d.
func (n *Locked) PlanUndo(ctx context.Context, current *model.Version, e model.JournalEntry, d *model.Decision) (planner.Plan, error) {
	if n.live == nil {
		loc := n.node.Location()
		records, err := n.open(loc, current.Raw())
		if err == nil {
			err = n.keep(loc, model.SumOf(current.Raw()), n.stamp, records)
		}
		if err != nil {
			return planner.Plan{}, err
		}
	}
	if n.id != e.ID {
		return planner.Plan{}, model.RefusedError(planner.ErrHistoryLost)
	}
	x, err := n.Layout(current)
	if err != nil {
		return planner.Plan{}, err
	}
	pieces, err := n.pieces(ctx, current)
	if err != nil {
		return planner.Plan{}, err
	}
	return planner.Undo(current, e, x, pieces, d)
}
