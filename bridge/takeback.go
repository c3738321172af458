package bridge

import (
	"errors"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file takes decisions on suggestions back. An undo makes what was decided pending
// again, character by character, and nothing else: what is in the text gets its marks
// again, and what is gone comes back at the place that it still has in the document,
// unless what stood on either side of it has been removed: by people, or by its author,
// who withdrew it. Texts are never compared.

// The reasons for which nothing of a decision can be taken back.
var (
	errHistoryLost   = errors.New("cannot be taken back: the note's history was lost; its text is in 'relayfs suggestions log --json'")
	errNoteGone      = errors.New("cannot be taken back: the note is gone; its text is in 'relayfs suggestions log --json'")
	errOldRecord     = errors.New("cannot be taken back: an older relayfs decided it, and the note has changed since; its text is in 'relayfs suggestions log --json'")
	errMatterChanged = errors.New("cannot be taken back: people have changed that front matter since; what it was is in 'relayfs suggestions log --json'")
	errNotReadBack   = errors.New("cannot be taken back: with what the note says now, it would be read as something else")
)

const (
	deletedByPeople = "deleted by people since"
	aroundDeleted   = "the text around it has been deleted since"
	laterDecision   = "a later decision took it away"
)

// takenBackOld takes back what an older relayfs did, if nothing has changed since.
func takenBackOld(cur *Version, e JournalEntry, d *Decision) (writePlan, error) {
	before, after := "", ""
	if e.Decision != nil {
		before, after = e.Decision.Before, e.Decision.After
	} else {
		end, _ := diffwrap.FrontMatter(cur.Raw())
		before, after = e.FrontMatter.Before+cur.Raw()[end:], e.FrontMatter.After+cur.Raw()[end:]
	}
	if cur.Raw() != after {
		return writePlan{}, refuse(errOldRecord)
	}
	plan := writePlan{edits: diffwrap.Diff(after, before), decision: d}
	left := slices.Clone(d.Items)
	x := newLedger(nil).layOut(before, units{})
	for _, s := range diffwrap.Suggestions(before) {
		i := slices.IndexFunc(left, func(d Decided) bool {
			return d.Kind == s.Kind.String() && d.Old == s.Old && d.New == s.New
		})
		if i < 0 {
			continue
		}
		m := left[i].made(e.Time)
		for k, c := range x.text {
			if c.Mark >= 0 && s.Start <= c.Start && c.End <= s.End {
				m.put(placeRun(x.places[k].from, x.places[k].to), c.Added)
			}
		}
		plan.marks = append(plan.marks, m)
		left = slices.Delete(left, i, i+1)
	}
	return plan, nil
}

// takeback is one undo that is being planned. Characters go by their first identities:
// what was brought back has had others since.
type takeback struct {
	entry JournalEntry
	d     *Decision // the undo's
	marks []DecidedMark
	runs  []DecidedRun
	cur   *Version
	known *ledger
	x     *layout // of cur.marked

	alias  idRanges[origin]    // of later identities
	target idRanges[int]       // index of runs
	states idRanges[charState] // of targets, and of what stood beside them; before the undo
	live   idRanges[bool]
	home   idRanges[int] // index of items, of what is gone
	items  []item
}

// origin tells of later identities which the first ones are, and since which record.
type origin struct{ client, shift, since uint64 }

func (o origin) of(r IDRun) IDRun { return IDRun{o.client, r.Clock + o.shift, r.Len} }

// newTakeback reads from the records what there is to know.
func newTakeback(e JournalEntry, records []Record, cur *Version, d *Decision) *takeback {
	t := &takeback{
		entry: e, d: d, cur: cur, known: newLedger(records), alias: make(idRanges[origin]),
	}
	if e.Decision != nil {
		t.runs, t.marks = e.Decision.Runs, e.Decision.Marks
	}
	if fm := e.FrontMatter; fm != nil {
		t.runs = slices.Clone(t.runs)
		for _, g := range fm.Removed {
			t.runs = append(t.runs, DecidedRun{At: g.At, Role: removedPlain, Text: g.Text})
		}
		for _, r := range fm.Typed {
			t.runs = append(t.runs, DecidedRun{At: r, Role: typedInstead})
		}
	}
	for i := range records {
		if d := records[i].Decision; d != nil {
			for _, r := range d.Revived {
				first := t.firsts(r.Old)
				done := uint64(0)
				for _, old := range first {
					t.alias.set(r.New.part(done, old.Len), origin{old.Client, old.Clock - (r.New.Clock + done), records[i].Seq})
					done += old.Len
				}
			}
		}
	}
	var targets []told[int]
	var states []told[charState]
	for i, run := range t.runs {
		for _, r := range t.firsts(run.At) {
			targets = append(targets, told[int]{of: r, value: i})
		}
		for _, of := range []IDRun{run.At, run.Left, run.Right} {
			for _, r := range t.firsts(of) {
				states = append(states, told[charState]{of: r})
			}
		}
	}
	t.target, t.states = rangesOf(targets, nil), rangesOf(states, nil)
	bySeq := make(map[uint64]*Decision)
	for i := range records {
		d := records[i].Decision
		switch {
		case d == nil:
		case d.Verdict == Undone:
			t.each(d, func(s charState, _ Role) charState { s.undo = true; return s })
			if undone := bySeq[d.UndoesSeq]; undone != nil {
				t.each(undone, func(s charState, role Role) charState { return s.undone(role, d.UndoesSeq) })
			}
		default:
			bySeq[records[i].Seq] = d
			t.each(d, func(s charState, role Role) charState { return s.decided(role, records[i].Seq) })
		}
	}
	return t
}

func (t *takeback) each(d *Decision, f func(charState, Role) charState) {
	for _, run := range d.Runs {
		for _, r := range t.firsts(run.At) {
			t.states.update(r, func(s charState) charState { return f(s, run.Role) })
		}
	}
}

// firsts are the first identities of characters.
func (t *takeback) firsts(r IDRun) (list []IDRun) {
	if r.Len == 0 {
		return nil
	}
	t.alias.each(r, func(part IDRun, from origin, ok bool) {
		if ok {
			part = from.of(part)
		}
		list = append(list, part)
	})
	return list
}

// takenBack plans the undo of a journal entry in a document with these records and pieces,
// and tells of it in d.
func takenBack(cur *Version, e JournalEntry, records []Record, pieces []ycrdt.Piece, d *Decision) (writePlan, error) {
	t := newTakeback(e, records, cur, d)
	t.read(pieces)
	return t.plan()
}
