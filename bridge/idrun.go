package bridge

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// IDRun names Len units of a document's text whose identities follow one another.
// Until a change is carried out, what it is about is named by places in the text
// instead: Client is 0 then, and Clock the place in UTF-16 units.
type IDRun struct{ Client, Clock, Len uint64 }

// MarshalJSON writes a run in short: there may be many.
func (r IDRun) MarshalJSON() ([]byte, error) {
	return json.Marshal([3]uint64{r.Client, r.Clock, r.Len})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *IDRun) UnmarshalJSON(data []byte) error {
	var v [3]uint64
	err := json.Unmarshal(data, &v)
	*r = IDRun{v[0], v[1], v[2]}
	return err
}

func (r IDRun) last() ycrdt.ID {
	return ycrdt.ID{Client: ycrdt.ClientID(r.Client), Clock: r.Clock + r.Len - 1}
}

// part is the n units of the run from the one at off on.
func (r IDRun) part(off, n uint64) IDRun { return IDRun{r.Client, r.Clock + off, n} }

// placeRun names units by where they are.
func placeRun(from, to int) IDRun { return IDRun{Clock: uint64(from), Len: uint64(to - from)} }

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

// idRanges says something of stretches of identities. What is said last counts.
type idRanges[T any] map[uint64][]idRange[T]

type idRange[T any] struct {
	from, to uint64
	value    T
}

// cut makes from and to borders of ranges and returns the index of the first one at or
// behind from, and that of the first one at or behind to.
func (x idRanges[T]) cut(client, from, to uint64) (i, j int) {
	at := func(clock uint64) int {
		list := x[client]
		k, _ := slices.BinarySearchFunc(list, clock, func(r idRange[T], clock uint64) int { return cmp.Compare(r.to, clock+1) })
		if k < len(list) && list[k].from < clock {
			r := list[k]
			list = slices.Insert(list, k+1, idRange[T]{clock, r.to, r.value})
			list[k].to = clock
			x[client] = list
			k++
		}
		return k
	}
	i = at(from)
	return i, at(to)
}

// set says v of the units of r.
func (x idRanges[T]) set(r IDRun, v T) {
	if r.Len == 0 {
		return
	}
	from, to := r.Clock, r.Clock+r.Len
	if list := x[r.Client]; len(list) == 0 || list[len(list)-1].to <= from {
		x[r.Client] = append(list, idRange[T]{from, to, v})
		return
	}
	i, j := x.cut(r.Client, from, to)
	x[r.Client] = slices.Replace(x[r.Client], i, j, idRange[T]{from, to, v})
}

// told is one thing that is said of identities.
type told[T any] struct {
	of    IDRun
	value T
}

// rangesOf says many things at once: that is faster in the order of identities. Of the
// same identities what later prefers counts, if it is not nil.
func rangesOf[T any](list []told[T], later func(a, b T) bool) idRanges[T] {
	slices.SortStableFunc(list, func(a, b told[T]) int {
		return cmp.Or(cmp.Compare(a.of.Client, b.of.Client), cmp.Compare(a.of.Clock, b.of.Clock))
	})
	x := make(idRanges[T])
	for _, t := range list {
		var parts []IDRun
		x.each(t.of, func(part IDRun, v T, ok bool) {
			if !ok || later != nil && later(t.value, v) {
				parts = append(parts, part)
			}
		})
		for _, part := range parts {
			x.set(part, t.value)
		}
	}
	return x
}

// update changes what is said of the units of r, as far as something is.
func (x idRanges[T]) update(r IDRun, f func(T) T) {
	i, j := x.cut(r.Client, r.Clock, r.Clock+r.Len)
	for k := i; k < j; k++ {
		x[r.Client][k].value = f(x[r.Client][k].value)
	}
}

// at returns what is said of the first unit of r, whether anything is, and for how many
// units of r that holds.
func (x idRanges[T]) at(r IDRun) (v T, n uint64, ok bool) {
	list := x[r.Client]
	i, _ := slices.BinarySearchFunc(list, r.Clock, func(e idRange[T], clock uint64) int { return cmp.Compare(e.to, clock+1) })
	switch {
	case i == len(list):
		return v, r.Len, false
	case list[i].from > r.Clock:
		return v, min(r.Len, list[i].from-r.Clock), false
	}
	return list[i].value, min(r.Len, list[i].to-r.Clock), true
}

// each calls f for the parts of r, with what is said of each.
func (x idRanges[T]) each(r IDRun, f func(part IDRun, v T, ok bool)) {
	for r.Len > 0 {
		v, n, ok := x.at(r)
		f(r.part(0, n), v, ok)
		r = r.part(n, r.Len-n)
	}
}
