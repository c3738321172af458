package note

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/note/internal/planner"
	"github.com/relayfs/relayfs/diffwrap"
)

// Suggestions lists the suggestions of the note, which is shown or was at p.
func (n *Note) Suggestions(ctx context.Context, p model.Path) ([]model.Suggestion, error) {
	l := n.Lock()
	defer l.Unlock()
	cur, err := l.load(ctx)
	if err != nil {
		return nil, err
	}
	list, _, err := l.Suggestions(p, cur)
	return list, err
}

// HasMarks says whether v may have suggestions or comments.
func HasMarks(v *model.Version) bool {
	return !v.ReadOnly() && attribution.MarksIn(v.Marked())
}

// Threads lists the suggestions and the threads of comments of the note, which is shown or was at p, and the version
// that has them.
func (n *Note) Threads(ctx context.Context, p model.Path) (*model.Version, []model.Suggestion, []model.Thread, error) {
	l := n.Lock()
	defer l.Unlock()
	cur, err := l.load(ctx)
	if err != nil || !HasMarks(cur) {
		return cur, nil, nil, err
	}
	list, x, err := l.Suggestions(p, cur)
	if err != nil {
		return nil, nil, nil, err
	}
	return cur, list, x.Threads(p, list), nil
}

// Suggestions lists the suggestions of cur, the current version, as they are laid out.
func (n *Locked) Suggestions(p model.Path, cur *model.Version) ([]model.Suggestion, *attribution.Layout, error) {
	x, err := n.layout(cur)
	if err != nil {
		return nil, nil, model.WrapError("open", p, err)
	}
	list := x.List(p)
	if n.set.o.Mode == Direct { // comments that are written there wait for nobody
		list = slices.DeleteFunc(list, func(s model.Suggestion) bool { return s.Kind == diffwrap.Comment })
	}
	return list, x, nil
}

// TakeBack plans the undo of the items of d in a journal entry, and tells of it in d.
func (n *Locked) TakeBack(ctx context.Context, cur *model.Version, e model.JournalEntry, d *model.Decision) (planner.Plan, error) {
	if n.live == nil {
		if err := n.prepare(n.node.Place(), cur.Raw()); err != nil {
			return planner.Plan{}, err
		}
	}
	if n.id != e.ID {
		return planner.Plan{}, model.Refuse(planner.ErrHistoryLost)
	}
	h, err := n.store.Load(n.id)
	if err != nil {
		return planner.Plan{}, err
	}
	pieces, err := n.pieces(ctx, cur)
	if err != nil {
		return planner.Plan{}, err
	}
	return planner.Undo(cur, e, n.shared.With(h.Records), pieces, d)
}
