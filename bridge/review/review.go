package review

import (
	"cmp"
	"slices"

	"github.com/relayfs/relayfs/bridge/index"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/namespace"
)

type Review struct {
	config  *namespace.Config
	tree    *namespace.Tree
	names   *namespace.DecisionEffects
	indexes *index.Indexes
}

func New(c *namespace.Config, t *namespace.Tree, n *namespace.DecisionEffects, x *index.Indexes) *Review {
	r := &Review{c, t, n, x}
	n.OnWithdrawn = r.rejectLinks
	return r
}

// begin announces a decision or its undo; Activity.EndOp ends it.
func (r *Review) begin(op string) error {
	if r.config.ReadOnly {
		return &model.Error{Op: op, Err: model.ErrReadOnly}
	}
	return model.WrapError(op, "", r.config.Events.BeginOp())
}

// Journal lists the newest decisions and front matter changes, newest first, at most limit.
func (r *Review) Journal(limit int) ([]model.JournalEntry, error) {
	var all []model.JournalEntry
	for _, f := range r.tree.Roots() {
		list, err := f.Store.Journal(limit)
		if err != nil {
			return nil, err
		}
		for i, e := range list {
			list[i].Path, list[i].Root, list[i].Rel = shownAt(f, e), f.Name, string(e.Path)
		}
		all = mergeNewest(all, list)
	}
	all = slices.CompactFunc(all, func(a, b model.JournalEntry) bool {
		return a.SessionNote != nil && b.SessionNote != nil && a.Batch == b.Batch
	})
	all = namespace.FilterVisible(r.tree, all, func(e model.JournalEntry) model.Path { return e.Path })
	return all[:min(limit, len(all))], nil
}

// mergeNewest merges two journals, newest first. It keeps the order of each even if the clock was
// wrong: an undo follows the decision that it undoes.
func mergeNewest(a, b []model.JournalEntry) []model.JournalEntry {
	all := make([]model.JournalEntry, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].Time.After(a[0].Time) {
			a, b = b, a
		}
		all, a = append(all, a[0]), a[1:]
	}
	return append(append(all, a...), b...)
}

// shownAt returns the current path of the note, or of the proposal's node, of a journal
// entry; "" if its document has no path any more.
func shownAt(f *namespace.TreeRoot, e model.JournalEntry) model.Path {
	if e.Decision != nil && e.Decision.Proposal != nil {
		p := e.Decision.Proposal
		return f.Path().Join(cmp.Or(p.Rel, p.To()))
	}
	if e.Path == "" {
		return ""
	}
	if n := f.Lookup(string(e.Path)); n != nil {
		return n.Location().Path
	}
	original, _ := e.Path.EndedAt()
	return f.Path().Join(string(original))
}
