package planner

import (
	"errors"
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file plans users' comments and the removal of threads. Both are in the journal, so they can be undone.

// ErrNoComment is the error for a comment that would not be parsed as a comment at its place, or would break its line.
var ErrNoComment = errors.New("a comment cannot be placed there: comment on the text before or after it")

// AddComment plans a user's comment at a byte offset of the canonical text.
func AddComment(current *model.Version, at int, text string, dialect diffwrap.Dialect, d model.Decision) (Plan, error) {
	raw := current.Canonical()
	if model.EndsCell(raw, at, text) {
		return Plan{}, model.RefusedError(errors.New("| would end the table cell: write \\| in the comment"))
	}
	comment := diffwrap.WriteComment(dialect, d.By, text, time.Now())
	if end, _ := diffwrap.FrontMatter(raw); at < end || !current.Known().CommentFits(raw, at, comment) {
		return Plan{}, model.RefusedError(ErrNoComment)
	}
	edits := []diffwrap.Edit{{Off: at, New: comment}}
	d.Runs = []model.DecidedRun{{At: inserted(edits)[0], Role: model.RoleCommentAdded, Text: comment}}
	return Plan{Record: model.Record{Decision: &d}, Edits: diffwrap.Compose(len(current.Raw()), current.CanonicalEdits(), edits)}, nil
}

// Resolve plans the removal of a thread. pending has the note's pending suggestions, among them the thread's comments
// that await a decision.
func Resolve(current *model.Version, x *attribution.Layout, t model.Thread, pending []model.Suggestion, d model.Decision) Plan {
	p := decider{Layout: x, decision: &d, marks: make(map[int]int)}
	var comments []decidedText
	for i, r := range t.Entries {
		item := model.DecidedItem{ID: t.ID, Kind: r.Kind.String(), Line: r.Line, New: r.New, Author: r.Author, Session: r.Session, Time: r.Time}
		c := decidedText{Span: diffwrap.Span{Start: r.Start, End: r.End}, role: model.RoleCommentResolved, mark: i}
		if k := slices.IndexFunc(pending, func(s model.Suggestion) bool { return s.ID == r.Pending }); r.Pending != "" && k >= 0 {
			item.ID, item.Proposal, c.role = r.Pending, pending[k].Proposal, model.RoleCommentRejected
		}
		d.Items, d.Marks = append(d.Items, item), append(d.Marks, model.DecidedMark{Item: i})
		comments = append(comments, c)
	}
	d.Runs = p.runs(p.parts(nil, nil, comments))
	edits := []diffwrap.Edit{{Off: t.Start, Len: t.End - t.Start}}
	return Plan{Record: model.Record{Decision: &d}, Edits: diffwrap.Compose(len(current.Raw()), current.CanonicalEdits(), edits)}
}
