package bridge

import (
	"cmp"
	"slices"
)

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
