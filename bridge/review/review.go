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

// begin starts the operation of a decision or an undo. The caller ends it with Bus.EndOp.
func (r *Review) begin(op string) error {
	if r.config.ReadOnly {
		return &model.Error{Op: op, Err: model.ErrReadOnly}
	}
	return model.WrapError(op, "", r.config.Events.BeginOp())
}

// Journal lists the newest journal entries, newest first: decisions, front matter changes, session notes and approvals.
// limit is the maximum number of entries.
func (r *Review) Journal(limit int) ([]model.JournalEntry, error) {
	all, _, err := r.newest(limit)
	return all, err
}

// newest is Journal. more reports whether there may be older entries.
func (r *Review) newest(limit int) (all []model.JournalEntry, more bool, err error) {
	for _, f := range r.tree.Roots() {
		list, err := f.Store.Journal(limit)
		if err != nil {
			return nil, false, err
		}
		more = more || len(list) == limit
		for i, e := range list {
			list[i].Path, list[i].Root, list[i].Rel = shownAt(f, e), f.Name, string(e.Path)
		}
		all = append(all, list...)
	}
	slices.SortStableFunc(all, func(a, b model.JournalEntry) int { return cmp.Compare(b.Order, a.Order) })
	named := make(map[string]bool)
	all = slices.DeleteFunc(all, func(e model.JournalEntry) bool { // every root has the same entry
		again := e.SessionNote != nil && named[e.Batch]
		named[e.Batch] = true
		return again
	})
	all = namespace.FilterVisible(r.tree, all, func(e model.JournalEntry) model.Path { return e.Path })
	return all[:min(limit, len(all))], more, nil
}

// shownAt returns the current path of the entry's note, or the source path in the entry's proposal. It returns the last
// path of a removed note, and "" for an entry without a path.
func shownAt(f *namespace.TreeRoot, e model.JournalEntry) model.Path {
	if e.Decision != nil && e.Decision.Proposal != nil {
		p := e.Decision.Proposal
		return f.Path().Join(cmp.Or(p.From(), p.To()))
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
