package planner

import (
	"errors"
	"math"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// An undo makes each decided character pending again, and changes nothing else. Text that still exists gets its marks
// again. Deleted text returns at its place in the document, unless users deleted the text on both sides, or the authors
// of that text withdrew it. An undo compares no texts.

// Reasons why no part of a decision can be undone.
var (
	ErrHistoryLost        = errors.New("cannot be undone: the note's history was lost; its text is in 'relayfs suggestions log --json'")
	ErrNoteGone           = errors.New("cannot be undone: the note no longer exists; its text is in 'relayfs suggestions log --json'")
	errFrontMatterChanged = errors.New("cannot be undone: that front matter has changed since, or is in a pending suggestion, which you can decide first; its old content is in 'relayfs suggestions log --json'")
	errCommentChanged     = errors.New("cannot be undone: the comment has since been changed or removed; remove it with 'relayfs suggestions resolve'")
	errNotReadBack        = errors.New("cannot be undone: the restored text would be read as other markup in the current note")
)

const (
	deletedByPeople = "deleted by users since"
	aroundDeleted   = "the text around it has been deleted since"
	laterDecision   = "a later decision removed it"
)

// Undo plans one undo. Its maps use the original IDs of characters, because restored text has newer ones.
type Undo struct {
	entry    model.JournalEntry
	order    uint64         // order of entry's record in the table
	decision model.Decision // the undo's decision
	marks    []model.DecidedMark
	runs     []model.DecidedRun
	text     *ycrdt.Text
	table    *attribution.Table
	from, to int                 // the positions in text between which all targets are or were
	current  *model.Version      // the part of the note that the undo is planned for
	layout   *attribution.Layout // layout of the marked text of current
	start    int                 // the position in text where current starts

	target         model.Ranges[int]  // index in runs
	asked          model.Ranges[bool] // true for targets, false for their neighbours
	present        model.Ranges[bool] // the characters of asked that still exist
	itemOf         model.Ranges[int]  // index in items, for deleted characters
	items          []item
	openedComments []int  // offsets in the raw text of comments that count as text again
	commentPending bool   // an accepted comment is unchanged and becomes pending again
	commentLen     uint64 // length of the comment that the decision wrote; 0 if that comment is unchanged in the note
}

// NewUndo finds the characters that the undo of an entry of the journal concerns in text, the note's document. d is the
// undo's decision with the items to undo.
func NewUndo(table *attribution.Table, e model.JournalEntry, text *ycrdt.Text, d model.Decision) *Undo {
	t := &Undo{entry: e, order: table.OrderOf(e.Seq), decision: d, text: text, table: table, to: math.MaxInt}
	if len(e.Links) > 0 {
		return t
	}
	if e.Decision != nil {
		t.runs, t.marks = e.Decision.RunsOf(&d), e.Decision.Marks
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
	}
	if e.Decision != nil {
		t.runs = append(t.runs, table.Breaks...) // these line breaks return together with any text
	}
	var targets []model.RangeValue[int]
	var asked []model.RangeValue[bool]
	for i, run := range t.runs {
		for _, r := range table.OriginalIDs(run.At) {
			targets = append(targets, model.RangeValue[int]{Of: r, Value: i})
		}
		for k, of := range []model.IDRange{run.At, run.Left, run.Right} {
			for _, r := range table.OriginalIDs(of) {
				asked = append(asked, model.RangeValue[bool]{Of: r, Value: k == 0})
			}
		}
	}
	t.target, t.asked = model.RangesOf(targets, nil), model.RangesOf(asked, func(aimed, _ bool) bool { return aimed })
	for _, l := range table.Rewritten { // a link that was rewritten since
		t.target.Each(table.OriginalIDs(l.Removed[0].At.Part(0, 1))[0], func(_ model.IDRange, i int, ok bool) {
			if !ok || i >= len(t.runs) {
				return
			}
			for _, r := range l.Typed {
				for _, first := range table.OriginalIDs(r) {
					t.target.Set(first, i)
					t.asked.Set(first, true)
				}
			}
		})
	}
	t.find()
	return t
}

// Range returns the UTF-16 positions in the document between which all characters of the decision are or were. They are
// those of the whole document if there are no such characters.
func (t *Undo) Range() (from, to int) { return t.from, t.to }

// Plan plans the undo for a part that has the text between the positions of Range, or for the whole note.
func (t Undo) Plan(part *Part) (Plan, error) {
	if len(t.entry.Links) > 0 {
		return undoLinks(part.Version, part.Layout, t.entry.Links, &t.decision), nil
	}
	t.current, t.layout, t.start = part.Version, part.Layout, part.From
	t.read()
	return t.plan()
}
