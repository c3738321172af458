package attribution

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Units are the identities of a text by place.
type Units struct {
	Runs   []ycrdt.Run
	starts []int // UTF-16 positions at which the runs begin
}

func UnitsOf(runs []ycrdt.Run) Units {
	u := Units{runs, make([]int, len(runs))}
	pos := 0
	for i, r := range runs {
		u.starts[i] = pos
		pos += r.Len
	}
	return u
}

// run is the index of the run with the UTF-16 position pos, len(u.runs) if there is none.
func (u Units) run(pos int) int {
	i, found := slices.BinarySearch(u.starts, pos)
	if !found && i > 0 {
		i--
	}
	if i < len(u.Runs) && pos >= u.starts[i]+u.Runs[i].Len {
		return len(u.Runs)
	}
	return i
}

// Each calls f for the runs of the units from one position to another, with their position.
func (u Units) Each(from, to int, f func(pos int, r model.IDRun)) {
	for i := u.run(from); i < len(u.Runs) && u.starts[i] < to; i++ {
		start, end := max(u.starts[i], from), min(u.starts[i]+u.Runs[i].Len, to)
		if start < end {
			f(start, model.RunOf(u.Runs[i]).Part(uint64(start-u.starts[i]), uint64(end-start)))
		}
	}
}

// Resolve names by identity what is named by place.
func (u Units) Resolve(r model.IDRun) (out []model.IDRun) {
	if r.Client != 0 || r.Len == 0 {
		return []model.IDRun{r}
	}
	u.Each(int(r.Clock), int(r.Clock+r.Len), func(_ int, id model.IDRun) { out = append(out, id) })
	return out
}

func (u Units) ResolveAll(list []model.IDRun) (out []model.IDRun) {
	for _, r := range list {
		out = append(out, u.Resolve(r)...)
	}
	return out
}

// Through are the identities of the text that edits make of raw: those of what stays.
// What is new has none.
func (u Units) Through(raw string, edits []diffwrap.Edit) Units {
	if len(edits) == 0 {
		return u
	}
	var runs []ycrdt.Run
	cursor := textmerge.NewCursor(raw)
	at := 0
	keep := func(to int) {
		u.Each(at, to, func(_ int, r model.IDRun) {
			runs = append(runs, r.Run())
		})
	}
	for _, e := range edits {
		keep(cursor.PosAt(e.Off))
		at = cursor.PosAt(e.Off + e.Len)
		if e.New != "" {
			runs = append(runs, ycrdt.Run{Len: textmerge.UTF16Len(e.New)})
		}
	}
	keep(cursor.PosAt(len(raw)))
	return UnitsOf(runs)
}
