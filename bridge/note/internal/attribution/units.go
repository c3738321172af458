package attribution

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Units maps positions of a text to the CRDT IDs and the attribution of its characters.
type Units struct {
	Runs    []ycrdt.Run
	starts  []int   // UTF-16 positions at which the runs begin
	facts   []*Fact // attribution of the runs; nil if there is none
	lastRun int     // the run that the last call looked up
}

func UnitsOf(runs []ycrdt.Run) Units {
	u := Units{Runs: runs, starts: make([]int, len(runs))}
	pos := 0
	for i, r := range runs {
		u.starts[i] = pos
		pos += r.Len
	}
	return u
}

// UnitsOf returns the identities of a text, with runs split where the attribution changes.
func (t *Table) UnitsOf(runs []ycrdt.Run) Units {
	if t.hasNoAgentText() {
		return UnitsOf(runs)
	}
	room := len(runs) + t.facts.Size()
	u, pos := Units{Runs: make([]ycrdt.Run, 0, room), starts: make([]int, 0, room), facts: make([]*Fact, 0, room)}, 0
	for _, run := range runs {
		t.Each(model.RangeOf(run), func(part model.IDRange, fact *Fact) { pos = u.add(pos, part.Run(), fact) })
	}
	return u
}

func (u *Units) add(pos int, run ycrdt.Run, fact *Fact) (end int) {
	u.Runs, u.starts, u.facts = append(u.Runs, run), append(u.starts, pos), append(u.facts, fact)
	return pos + run.Len
}

// run returns the index of the run at the UTF-16 position pos, or len(u.Runs).
func (u *Units) run(pos int) int {
	const steps = 4 // callers usually go through a text in order, and read the ends of a mark before its text
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

// Each calls f for the parts of the runs between two positions. pos is the position of each part.
func (u *Units) Each(from, to int, f func(pos int, r model.IDRange)) {
	u.Facts(from, to, func(pos int, r model.IDRange, _ *Fact) { f(pos, r) })
}

// Facts calls f for the parts of the text between two positions, each with its attribution.
func (u *Units) Facts(from, to int, f func(pos int, r model.IDRange, fact *Fact)) {
	for i := u.run(from); i < len(u.Runs) && u.starts[i] < to; i++ {
		start, end := max(u.starts[i], from), min(u.starts[i]+u.Runs[i].Len, to)
		if start < end {
			fact := &noFact
			if u.facts != nil {
				fact = u.facts[i]
			}
			f(start, model.RangeOf(u.Runs[i]).Part(uint64(start-u.starts[i]), uint64(end-start)), fact)
		}
	}
}

// Resolve converts a range of positions to identities. It returns any other range unchanged.
func (u *Units) Resolve(r model.IDRange) (out []model.IDRange) {
	if r.Client != 0 || r.Len == 0 {
		return []model.IDRange{r}
	}
	u.Each(int(r.Clock), int(r.Clock+r.Len), func(_ int, id model.IDRange) { out = append(out, id) })
	return out
}

func (u *Units) ResolveAll(list []model.IDRange) (out []model.IDRange) {
	for _, r := range list {
		out = append(out, u.Resolve(r)...)
	}
	return out
}

// AfterEdits returns the identities of the text after edits of raw. Remaining text keeps its identities. New text
// consists of delimiters of agents' marks and has no identities.
func (u Units) AfterEdits(raw string, edits []diffwrap.Edit) Units {
	if len(edits) == 0 {
		return u
	}
	var out Units
	cursor := textmerge.NewCursor(raw)
	at, end := 0, 0
	keep := func(to int) {
		u.Facts(at, to, func(_ int, r model.IDRange, fact *Fact) { end = out.add(end, r.Run(), fact) })
	}
	for _, e := range edits {
		keep(cursor.PosAt(e.Off))
		at = cursor.PosAt(e.Off + e.Len)
		if e.New != "" {
			end = out.add(end, ycrdt.Run{Len: textmerge.UTF16Len(e.New)}, &Fact{By: new(Writer), Syntax: true})
		}
	}
	keep(cursor.PosAt(len(raw)))
	return out
}
