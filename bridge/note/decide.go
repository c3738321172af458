package note

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/note/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
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

// LinksWithin is planner.LinksWithin for current.
func (n *Locked) LinksWithin(current *model.Version, e model.JournalEntry, items []model.DecidedItem) ([]string, error) {
	t, err := n.currentTable()
	if err != nil {
		return nil, err
	}
	return planner.LinksWithin(t, e, items, func() (*attribution.Layout, error) { return n.Layout(current) })
}

// PlanUndo plans the undo of the items of d in a journal entry.
func (n *Locked) PlanUndo(ctx context.Context, current *model.Version, e model.JournalEntry, d model.Decision) (plan planner.Plan, err error) {
	if n.live == nil {
		loc := n.node.Location()
		records, err := n.open(loc, current.Raw())
		if err == nil {
			err = n.keep(loc, model.SumOf(current.Raw()), n.stamp, records)
		}
		if err != nil {
			return plan, err
		}
	}
	if n.id != e.ID {
		return plan, model.RefusedError(planner.ErrHistoryLost)
	}
	table, err := n.currentTable()
	if err != nil {
		return plan, err
	}
	err = n.withText(ctx, current, func(text *ycrdt.Text) error {
		u := planner.NewUndo(table, e, text, d)
		from, to := u.Range()
		cursor := textmerge.NewCursor(current.Raw())
		plan, err = n.planIn(table, current, diffwrap.Span{Start: cursor.OffAt(from), End: cursor.OffAt(to)}, u.Plan)
		return err
	})
	return plan, err
}

// PlanDecision plans a decision on suggestions of current.
func (n *Locked) PlanDecision(t *attribution.Table, current *model.Version, chosen []model.Suggestion, d model.Decision, instead []diffwrap.Edit) (planner.Plan, error) {
	all := diffwrap.Span{Start: len(current.Raw())}
	for i := range chosen {
		all = diffwrap.Span{Start: min(all.Start, chosen[i].Start), End: max(all.End, chosen[i].End)}
	}
	return n.planIn(t, current, all, func(part *planner.Part) (planner.Plan, error) {
		return planner.Decide(part.Version, part.Layout, movedBy(chosen, -part.Start), d, instead), nil
	})
}

// planIn plans a change for the part of current around s, or for all of current if the change is not within that part.
func (n *Locked) planIn(t *attribution.Table, current *model.Version, s diffwrap.Span, plan func(*planner.Part) (planner.Plan, error)) (planner.Plan, error) {
	if part := n.part(t, current, s); part != nil {
		if p, err := plan(part); err == nil && p.Within(part) {
			return p, nil
		}
	}
	x, err := n.Layout(current)
	if err != nil {
		return planner.Plan{}, err
	}
	return plan(&planner.Part{Version: current, Layout: x})
}

// PendingOf lists the suggestions of items that are pending again after the change res, which undid decisions on them. It
// does not set their Gap.
func (n *Note) PendingOf(ctx context.Context, p model.Path, res Result, items []model.DecidedItem) (pending []model.Suggestion, err error) {
	list, ok := n.pendingIn(p, res, items)
	if !ok {
		if _, list, _, err = n.Threads(ctx, p); err != nil {
			return nil, err
		}
	}
	takes := (&model.Decision{Items: items}).Covers()
	for _, s := range list {
		if takes(s.ID) {
			s.Gap = 0
			pending = append(pending, s)
		}
	}
	return pending, nil
}

// pendingIn lists the suggestions in the part of the note that res has changed. It returns false if that part may not have
// all suggestions of the items.
func (n *Note) pendingIn(p model.Path, res Result, items []model.DecidedItem) ([]model.Suggestion, bool) {
	l := n.Lock()
	defer l.Unlock()
	current := n.current.Load()
	t, err := l.currentTable()
	if err != nil || res.part.Empty() || res.Version != current {
		return nil, false
	}
	part := l.part(t, current, res.part)
	if part == nil || slices.ContainsFunc(items, func(item model.DecidedItem) bool { return !part.Layout.HasAllOf(item.ID) }) {
		return nil, false
	}
	breaks := current.Known().Breaks(current.Raw(), part.Start)
	list := movedBy(part.Layout.List(p), part.Start)
	for i := range list {
		list[i].Line += breaks
	}
	return list, true
}

func movedBy(list []model.Suggestion, by int) []model.Suggestion {
	list = slices.Clone(list)
	for i := range list {
		s := &list[i]
		s.Start, s.End, s.Parts = s.Start+by, s.End+by, slices.Clone(s.Parts)
		for k := range s.Parts {
			s.Parts[k] = s.Parts[k].Shift(by)
		}
	}
	return list
}

// part returns the part of current around s, or nil if s is most of the note or depends on the rest.
func (n *Locked) part(t *attribution.Table, current *model.Version, s diffwrap.Span) *planner.Part {
	const few = 2
	if n.live != nil || n.doc == nil || n.set.o.Mode == Direct || few*s.Len() > len(current.Raw()) || !current.IsApart() {
		return nil
	}
	p := &planner.Part{Span: current.Known().Around(current.Raw(), s)}
	if few*p.Len() > len(current.Raw()) || !diffwrap.HasBody(current.Raw()[:p.Start]) {
		return nil
	}
	cursor := textmerge.NewCursor(current.Raw())
	p.From = cursor.PosAt(p.Start)
	p.To = cursor.PosAt(p.End)
	p.Version = current.Part(p.Span)
	p.Layout = t.LayOut(p.Version.Known(), t.UnitsOf(p.Version.Raw(), n.text.RunsIn(p.From, p.To)))
	return p
}
