package planner

import (
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// This file takes decisions on suggestions back. An undo makes what was decided pending
// again, character by character, and nothing else: what is in the text gets its marks
// again, and what is gone comes back at the place that it still has in the document,
// unless what stood on either side of it has been removed: by people, or by its author,
// who withdrew it. Texts are never compared.

// The reasons for which nothing of a decision can be taken back.
var (
	ErrHistoryLost   = errors.New("cannot be taken back: the note's history was lost; its text is in 'relayfs suggestions log --json'")
	ErrNoteGone      = errors.New("cannot be taken back: the note is gone; its text is in 'relayfs suggestions log --json'")
	errMatterChanged = errors.New("cannot be taken back: people have changed that front matter since; what it was is in 'relayfs suggestions log --json'")
	errRemarkChanged = errors.New("cannot be taken back: the comment has been changed or taken out since; take it out with 'relayfs suggestions resolve'")
	errNotReadBack   = errors.New("cannot be taken back: with what the note says now, it would be read as something else")
)

const (
	deletedByPeople = "deleted by people since"
	aroundDeleted   = "the text around it has been deleted since"
	laterDecision   = "a later decision took it away"
)

// takeback is one undo that is being planned. Characters go by their first identities:
// what was brought back has had others since.
type takeback struct {
	entry model.JournalEntry
	d     *model.Decision // the undo's
	marks []model.DecidedMark
	runs  []model.DecidedRun
	cur   *model.Version
	known *attribution.Ledger
	x     *attribution.Layout // of cur.marked

	target attribution.Ranges[int]       // index of runs
	states attribution.Ranges[charState] // of targets, and of what stood beside them; before the undo
	live   attribution.Ranges[bool]
	home   attribution.Ranges[int] // index of items, of what is gone
	items  []item
}

// newTakeback reads from the records what there is to know.
func newTakeback(e model.JournalEntry, records []model.Record, cur *model.Version, d *model.Decision) *takeback {
	t := &takeback{entry: e, d: d, cur: cur, known: attribution.NewLedger(records)}
	if e.Decision != nil {
		t.runs, t.marks = slices.Clone(e.Decision.RunsOf(d)), e.Decision.Marks
		for i := range records {
			other := records[i].Decision
			if other == nil || records[i].Seq == e.Seq {
				continue
			}
			for _, r := range other.Runs {
				if r.Role == model.TakenBreak { // it has to come back with any text
					t.runs = append(t.runs, r)
				}
			}
		}
	}
	if fm := e.FrontMatter; fm != nil {
		for _, g := range fm.Removed {
			t.runs = append(t.runs, model.DecidedRun{At: g.At, Role: model.RemovedPlain, Text: g.Text})
		}
		for _, r := range fm.Typed {
			t.runs = append(t.runs, model.DecidedRun{At: r, Role: model.TypedInstead})
		}
	}
	var targets []attribution.Told[int]
	var states []attribution.Told[charState]
	for i, run := range t.runs {
		for _, r := range t.known.Firsts(run.At) {
			targets = append(targets, attribution.Told[int]{Of: r, Value: i})
		}
		for _, of := range []model.IDRun{run.At, run.Left, run.Right} {
			for _, r := range t.known.Firsts(of) {
				states = append(states, attribution.Told[charState]{Of: r})
			}
		}
	}
	t.target, t.states = attribution.RangesOf(targets, nil), attribution.RangesOf(states, nil)
	bySeq := make(map[uint64]*model.Decision)
	for i := range records {
		d := records[i].Decision
		switch {
		case d == nil:
		case d.Verdict == model.Undone:
			t.each(d.Runs, func(s charState, _ model.Role) charState { s.undo = true; return s })
			if undone := bySeq[d.UndoesSeq]; undone != nil {
				t.each(undone.RunsOf(d), func(s charState, role model.Role) charState { return s.undone(role, d.UndoesSeq) })
			}
		default:
			bySeq[records[i].Seq] = d
			t.each(d.Runs, func(s charState, role model.Role) charState { return s.decided(role, records[i].Seq) })
		}
	}
	return t
}

func (t *takeback) each(runs []model.DecidedRun, f func(charState, model.Role) charState) {
	for _, run := range runs {
		for _, r := range t.known.Firsts(run.At) {
			t.states.Update(r, func(s charState) charState { return f(s, run.Role) })
		}
	}
}

// Undo plans the undo of the items of d in a journal entry, in a document with these records
// and pieces, and tells of it in d.
func Undo(cur *model.Version, e model.JournalEntry, records []model.Record, pieces []ycrdt.Piece, d *model.Decision) (Plan, error) {
	t := newTakeback(e, records, cur, d)
	t.read(pieces)
	return t.plan()
}
