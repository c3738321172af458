package planner

import (
	"errors"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// An undo makes each decided character pending again, and changes nothing else. Text that still exists gets its marks
// again. Deleted text returns at its place in the document, unless users deleted the text on both sides, or the authors
// of that text withdrew it. An undo compares no texts.

// Reasons why no part of a decision can be undone.
var (
	ErrHistoryLost        = errors.New("cannot be undone: the note's history was lost; its text is in 'relayfs suggestions log --json'")
	ErrNoteGone           = errors.New("cannot be undone: the note no longer exists; its text is in 'relayfs suggestions log --json'")
	errFrontMatterChanged = errors.New("cannot be undone: users have changed that front matter since; its old content is in 'relayfs suggestions log --json'")
	errCommentChanged     = errors.New("cannot be undone: the comment has since been changed or removed; remove it with 'relayfs suggestions resolve'")
	errNotReadBack        = errors.New("cannot be undone: the restored text would be read as other markup in the current note")
)

const (
	deletedByPeople = "deleted by users since"
	aroundDeleted   = "the text around it has been deleted since"
	laterDecision   = "a later decision removed it"
)

// undoPlan plans one undo. Its maps use the original IDs of characters, because restored text has newer ones.
type undoPlan struct {
	entry    model.JournalEntry
	order    uint64          // order of entry's record in the table
	decision *model.Decision // the undo's decision
	marks    []model.DecidedMark
	runs     []model.DecidedRun
	current  *model.Version
	table    *attribution.Table
	layout   *attribution.Layout // layout of the marked text of current

	target         model.Ranges[int]  // index in runs
	asked          model.Ranges[bool] // true for targets, false for their neighbours
	present        model.Ranges[bool] // the characters of asked that still exist
	in             diffwrap.Span      // the range of the raw text that the undo may change
	itemOf         model.Ranges[int]  // index in items, for deleted characters
	items          []item
	commentPending bool   // an accepted comment is unchanged and becomes pending again
	commentLen     uint64 // length of the comment that the decision wrote; 0 if that comment is unchanged in the note
}

// newUndoPlan collects the characters that the undo concerns.
func newUndoPlan(e model.JournalEntry, x *attribution.Table, d *model.Decision) *undoPlan {
	t := &undoPlan{entry: e, order: x.OrderOf(e.Seq), decision: d, table: x}
	if e.Decision != nil {
		t.runs, t.marks = e.Decision.RunsOf(d), e.Decision.Marks
	}
	if fm := e.FrontMatter; fm != nil {
		for _, g := range fm.Removed {
			t.runs = append(t.runs, model.DecidedRun{At: g.At, Role: model.RolePlainRemoved, Text: g.Text})
		}
		for _, r := range fm.Typed {
			t.runs = append(t.runs, model.DecidedRun{At: r, Role: model.RoleReplacement})
		}
	}
	for _, r := range t.runs {
		if r.Role == model.RoleCommentAdded {
			t.commentLen += r.At.Len
		}
		d.Again = append(d.Again, model.DecidedRun{At: r.At, Role: r.Role})
	}
	if e.Decision != nil {
		t.runs = append(t.runs, x.Breaks...) // these line breaks return together with any text
	}
	var targets []model.RangeValue[int]
	var asked []model.RangeValue[bool]
	for i, run := range t.runs {
		for _, r := range x.OriginalIDs(run.At) {
			targets = append(targets, model.RangeValue[int]{Of: r, Value: i})
		}
		for k, of := range []model.IDRange{run.At, run.Left, run.Right} {
			for _, r := range x.OriginalIDs(of) {
				asked = append(asked, model.RangeValue[bool]{Of: r, Value: k == 0})
			}
		}
	}
	t.target, t.asked = model.RangesOf(targets, nil), model.RangesOf(asked, func(aimed, _ bool) bool { return aimed })
	for _, l := range x.Rewritten { // a link that was rewritten since
		t.target.Each(x.OriginalIDs(l.Removed[0].At.Part(0, 1))[0], func(_ model.IDRange, i int, ok bool) {
			if !ok || i >= len(t.runs) {
				return
			}
			for _, r := range l.Typed {
				d.Again = append(d.Again, model.DecidedRun{At: r, Role: t.runs[i].Role})
				for _, first := range x.OriginalIDs(r) {
					t.target.Set(first, i)
					t.asked.Set(first, true)
				}
			}
		})
	}
	return t
}

// Undo plans the undo of the items of d, which a journal entry decided. pieces are the pieces of the document. lay returns
// a version, the layout of its marked text and the UTF-16 position in the document where it starts. The version has the
// text between the given positions, where all targets are or were. Undo records the outcome in d.
func Undo(table *attribution.Table, e model.JournalEntry, pieces []ycrdt.Piece, d *model.Decision, lay func(from, to int) (*model.Version, *attribution.Layout, int, error)) (plan Plan, err error) {
	if len(e.Links) > 0 {
		current, x, _, err := lay(-1, 0)
		if err != nil {
			return plan, err
		}
		return undoLinks(current, x, e.Links, d), nil
	}
	t := newUndoPlan(e, table, d)
	from, to := t.findPresent(pieces)
	start := 0
	if t.current, t.layout, start, err = lay(from, to); err != nil {
		return plan, err
	}
	t.findRange(from-start, to-start)
	t.read(pieces, start)
	return t.plan()
}
