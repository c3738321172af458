package bridge

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// units are the identities of a text by place.
type units struct {
	runs   []ycrdt.Run
	starts []int // UTF-16 positions at which the runs begin
}

func unitsOf(runs []ycrdt.Run) units {
	u := units{runs, make([]int, len(runs))}
	pos := 0
	for i, r := range runs {
		u.starts[i] = pos
		pos += r.Len
	}
	return u
}

// run is the index of the run with the UTF-16 position pos, len(u.runs) if there is none.
func (u units) run(pos int) int {
	i, found := slices.BinarySearch(u.starts, pos)
	if !found && i > 0 {
		i--
	}
	if i < len(u.runs) && pos >= u.starts[i]+u.runs[i].Len {
		return len(u.runs)
	}
	return i
}

// each calls f for the runs of the units from one position to another, with their position.
func (u units) each(from, to int, f func(pos int, r IDRun)) {
	for i := u.run(from); i < len(u.runs) && u.starts[i] < to; i++ {
		start, end := max(u.starts[i], from), min(u.starts[i]+u.runs[i].Len, to)
		if start < end {
			id := u.runs[i].ID
			f(start, IDRun{uint64(id.Client), id.Clock + uint64(start-u.starts[i]), uint64(end - start)})
		}
	}
}

// resolve names by identity what is named by place.
func (u units) resolve(r IDRun) (out []IDRun) {
	if r.Client != 0 || r.Len == 0 {
		return []IDRun{r}
	}
	u.each(int(r.Clock), int(r.Clock+r.Len), func(_ int, id IDRun) { out = append(out, id) })
	return out
}

func (u units) resolveAll(list []IDRun) (out []IDRun) {
	for _, r := range list {
		out = append(out, u.resolve(r)...)
	}
	return out
}

// through are the identities of the text that edits make of raw: those of what stays.
// What is new has none.
func (u units) through(raw string, edits []diffwrap.Edit) units {
	if len(edits) == 0 {
		return u
	}
	var runs []ycrdt.Run
	cursor := textmerge.NewCursor(raw)
	at := 0
	keep := func(to int) {
		u.each(at, to, func(_ int, r IDRun) {
			runs = append(runs, ycrdt.Run{ID: ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock}, Len: int(r.Len)})
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
	return unitsOf(runs)
}
