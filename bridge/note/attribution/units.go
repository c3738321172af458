package attribution

import (
	"iter"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Units maps a text to the CRDT IDs and the attribution of its characters.
type Units struct {
	Raw     string
	Runs    []ycrdt.Run
	starts  []int   // UTF-16 positions at which the runs begin
	facts   []*Fact // attribution of the runs; nil if there is none
	lastRun int     // the run that the last call looked up
	cursor  textmerge.Cursor
}

// Piece is a part of a text whose characters have consecutive CRDT IDs and one attribution.
type Piece struct {
	diffwrap.Span
	ID model.IDRange
	*Fact
}

func UnitsOf(raw string, runs []ycrdt.Run) *Units {
	u := &Units{Raw: raw, Runs: runs, starts: make([]int, len(runs)), cursor: textmerge.NewCursor(raw)}
	pos := 0
	for i, r := range runs {
		u.starts[i] = pos
		pos += r.Len
	}
	return u
}

// UnitsOf returns the identities of a text, with runs split where the attribution changes.
func (t *Table) UnitsOf(raw string, runs []ycrdt.Run) *Units {
	if t.hasNoAgentText() {
		return UnitsOf(raw, runs)
	}
	room := min(len(runs)+t.facts.Size(), len(raw)) // raw may be a small part of the note
	split, facts := make([]ycrdt.Run, 0, room), make([]*Fact, 0, room)
	for _, run := range runs {
		t.Each(model.RangeOf(run), func(part model.IDRange, fact *Fact) { split, facts = append(split, part.Run()), append(facts, fact) })
	}
	u := UnitsOf(raw, split)
	u.facts = facts
	return u
}

// run returns the index of the run at the UTF-16 position pos, or len(u.Runs).
func (u *Units) run(pos int) int {
	const steps = 8 // callers usually go through a text in order, and read the ends of a mark before its text
	has := func(i int) bool { return u.starts[i] <= pos && pos < u.starts[i]+u.Runs[i].Len }
	for i := max(0, u.lastRun-2); i < min(u.lastRun+steps, len(u.Runs)); i++ {
		if has(i) {
			u.lastRun = i
			return i
		}
	}
	i, found := slices.BinarySearch(u.starts, pos)
	if !found && i > 0 {
		i--
	}
	if i < len(u.Runs) && !has(i) {
		return len(u.Runs)
	}
	u.lastRun = i
	return i
}

// In yields the pieces of a range of the text.
func (u *Units) In(s diffwrap.Span) iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		from := u.cursor.PosAt(s.Start)
		cursor := u.cursor
		to := u.cursor.PosAt(s.End)
		for i := u.run(from); i < len(u.Runs) && u.starts[i] < to; i++ {
			start, end := max(u.starts[i], from), min(u.starts[i]+u.Runs[i].Len, to)
			if start == end {
				continue
			}
			p := Piece{Span: s, ID: model.RangeOf(u.Runs[i]).Part(uint64(start-u.starts[i]), uint64(end-start)), Fact: &noFact}
			if start > from {
				p.Start = cursor.OffAt(start)
			}
			if end < to {
				p.End = cursor.OffAt(end)
			}
			if u.facts != nil {
				p.Fact = u.facts[i]
			}
			if !yield(p) {
				return
			}
		}
	}
}

// PendingIn returns the text of pending suggestions in s.
func (u *Units) PendingIn(s diffwrap.Span) (ids []model.IDRange) {
	for p := range u.In(s) {
		if p.IsPending() {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

func (u *Units) all() iter.Seq[Piece] { return u.In(diffwrap.Span{End: len(u.Raw)}) }

// Resolve converts a range of offsets to identities. It returns any other range unchanged.
func (u *Units) Resolve(r model.IDRange) (out []model.IDRange) {
	if r.Client != 0 || r.Len == 0 {
		return []model.IDRange{r}
	}
	for p := range u.In(r.Span()) {
		out = append(out, p.ID)
	}
	return out
}

func (u *Units) ResolveAll(list []model.IDRange) (out []model.IDRange) {
	for _, r := range list {
		out = append(out, u.Resolve(r)...)
	}
	return out
}

// MovedTo maps the identities of a range to a range of the same text, at an offset in a later text.
func (u *Units) MovedTo(from diffwrap.Span, to int) (moved []model.IDRemap) {
	for p := range u.In(from) {
		moved = append(moved, model.IDRemap{Old: p.ID, New: model.OffsetRange(p.Shift(to - from.Start))})
	}
	return moved
}

// AfterEdits returns the identities of the text after edits. Remaining text keeps its identities. New text consists of
// delimiters of agents' marks and has no identities.
func (u *Units) AfterEdits(edits []diffwrap.Edit) *Units {
	if len(edits) == 0 {
		return u
	}
	var runs []ycrdt.Run
	var facts []*Fact
	at := 0
	keep := func(to int) {
		for p := range u.In(diffwrap.Span{Start: at, End: to}) {
			runs, facts = append(runs, p.ID.Run()), append(facts, p.Fact)
		}
	}
	for _, e := range edits {
		keep(e.Off)
		at = e.Off + e.Len
		if e.New != "" {
			runs, facts = append(runs, ycrdt.Run{Len: textmerge.UTF16Len(e.New)}), append(facts, &Fact{By: new(Writer), Syntax: true})
		}
	}
	keep(len(u.Raw))
	after := UnitsOf(diffwrap.Apply(u.Raw, edits), runs)
	after.facts = facts
	return after
}
