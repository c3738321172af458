package model

import (
	"cmp"
	"slices"
	"sort"
)

// Ranges says something of stretches of identities. What is said last counts.
type Ranges[T any] map[uint64][]idRange[T]

type idRange[T any] struct {
	from, to uint64
	value    T
}

// Size is how many ranges there are.
func (x Ranges[T]) Size() (n int) {
	for _, list := range x {
		n += len(list)
	}
	return n
}

// find is the index of the range with a unit of a client, or of the next one.
func (x Ranges[T]) find(client, clock uint64) int {
	list := x[client]
	return sort.Search(len(list), func(i int) bool { return list[i].to > clock })
}

// cut makes from and to borders of ranges and returns the index of the first one at or
// behind from, and that of the first one at or behind to.
func (x Ranges[T]) cut(client, from, to uint64) (i, j int) {
	at := func(clock uint64) int {
		list, k := x[client], x.find(client, clock)
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

// Set says v of the units of r.
func (x Ranges[T]) Set(r IDRun, v T) {
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

// Told is one thing that is said of identities.
type Told[T any] struct {
	Of    IDRun
	Value T
}

// RangesOf says many things at once: that is faster in the order of identities. Of the
// same identities what later prefers counts, if it is not nil.
func RangesOf[T any](list []Told[T], later func(a, b T) bool) Ranges[T] {
	slices.SortStableFunc(list, func(a, b Told[T]) int {
		return cmp.Or(cmp.Compare(a.Of.Client, b.Of.Client), cmp.Compare(a.Of.Clock, b.Of.Clock))
	})
	x := make(Ranges[T])
	for _, t := range list {
		var parts []IDRun
		x.Each(t.Of, func(part IDRun, v T, ok bool) {
			if !ok || later != nil && later(t.Value, v) {
				parts = append(parts, part)
			}
		})
		for _, part := range parts {
			x.Set(part, t.Value)
		}
	}
	return x
}

// Each calls f for the parts of r, with what is said of each.
func (x Ranges[T]) Each(r IDRun, f func(part IDRun, v T, ok bool)) {
	var none T
	list, i := x[r.Client], x.find(r.Client, r.Clock)
	for r.Len > 0 {
		if i == len(list) || list[i].from >= r.Clock+r.Len {
			f(r, none, false)
			return
		}
		if n := list[i].from; n > r.Clock {
			f(r.Part(0, n-r.Clock), none, false)
			r = r.Part(n-r.Clock, r.Len-(n-r.Clock))
		}
		n := min(r.Len, list[i].to-r.Clock)
		f(r.Part(0, n), list[i].value, true)
		r, i = r.Part(n, r.Len-n), i+1
	}
}

// Has says whether something is said of the first unit of r.
func (x Ranges[T]) Has(r IDRun) (has bool) {
	x.Each(r.Part(0, 1), func(_ IDRun, _ T, ok bool) { has = ok })
	return has
}
