package model

import (
	"cmp"
	"slices"
	"sort"
)

// Ranges maps ranges of CRDT IDs to values. If ranges overlap, the value that was set last counts.
type Ranges[T any] map[uint64][]idRange[T]

type idRange[T any] struct {
	from, to uint64
	value    T
}

func (x Ranges[T]) Size() (n int) {
	for _, list := range x {
		n += len(list)
	}
	return n
}

// find returns the index of the range that contains the unit with the given clock, or else of the next range.
func find[T any](list []idRange[T], clock uint64) int {
	return sort.Search(len(list), func(i int) bool { return list[i].to > clock })
}

// cut splits a client's ranges at two clocks. For each of these clocks it returns the index of the first range that
// starts there or later.
func (x Ranges[T]) cut(client, from, to uint64) (i, j int) {
	at := func(clock uint64) int {
		list := x[client]
		k := find(list, clock)
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

func (x Ranges[T]) Set(r IDRange, v T) {
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

type RangeValue[T any] struct {
	Of    IDRange
	Value T
}

// RangesOf returns Ranges with the values of list, which it sorts by ID. It is fastest if list already has this order.
// Where ranges overlap, the first value in this order counts unless later prefers another value.
func RangesOf[T any](list []RangeValue[T], later func(a, b T) bool) Ranges[T] {
	slices.SortStableFunc(list, func(a, b RangeValue[T]) int {
		return cmp.Or(cmp.Compare(a.Of.Client, b.Of.Client), cmp.Compare(a.Of.Clock, b.Of.Clock))
	})
	x := make(Ranges[T])
	for _, t := range list {
		var parts []IDRange
		x.Each(t.Of, func(part IDRange, v T, ok bool) {
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

// Each calls f for the parts of r, each with its value. ok is false for a part without a value.
func (x Ranges[T]) Each(r IDRange, f func(part IDRange, v T, ok bool)) {
	var none T
	list := x[r.Client]
	i := find(list, r.Clock)
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

// All calls f for each range and its value. It goes through the clients in any order.
func (x Ranges[T]) All(f func(r IDRange, v T)) {
	for client, list := range x {
		for _, r := range list {
			f(IDRange{Client: client, Clock: r.from, Len: r.to - r.from}, r.value)
		}
	}
}

func (x Ranges[T]) Has(r IDRange) (has bool) {
	x.Each(r.Part(0, 1), func(_ IDRange, _ T, ok bool) { has = ok })
	return has
}
