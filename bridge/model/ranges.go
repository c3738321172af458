package model

import (
	"cmp"
	"slices"
	"sort"
	"sync/atomic"
)

// Ranges maps ranges of CRDT IDs to values. If ranges overlap, the value that was set last counts.
type Ranges[T any] map[uint64]*clientRanges[T]

// clientRanges are the ranges of one client, in order.
type clientRanges[T any] struct {
	list []idRange[T]
	last atomic.Int64 // index of the last range that Each read: a text mostly has the characters of a client in order
}

type idRange[T any] struct {
	from, to uint64
	value    T
}

func (x Ranges[T]) Size() (n int) {
	for _, c := range x {
		n += len(c.list)
	}
	return n
}

// find returns the index of the range that contains the unit with the given clock, or else of the next range.
func (c *clientRanges[T]) find(clock uint64) int {
	list, last := c.list, int(c.last.Load())
	for i := max(0, last-3); i < min(last+4, len(list)); i++ {
		if clock < list[i].to && (i == 0 || list[i-1].to <= clock) {
			return i
		}
	}
	return sort.Search(len(list), func(i int) bool { return list[i].to > clock })
}

// cut splits the ranges at a clock. It returns the index of the first range that starts there or later.
func (c *clientRanges[T]) cut(clock uint64) int {
	k := c.find(clock)
	if k < len(c.list) && c.list[k].from < clock {
		r := c.list[k]
		c.list = slices.Insert(c.list, k+1, idRange[T]{clock, r.to, r.value})
		c.list[k].to = clock
		k++
	}
	return k
}

func (x Ranges[T]) Set(r IDRange, v T) {
	if r.Len == 0 {
		return
	}
	from, to := r.Clock, r.Clock+r.Len
	c := x[r.Client]
	if c == nil {
		c = new(clientRanges[T])
		x[r.Client] = c
	}
	if len(c.list) == 0 || c.list[len(c.list)-1].to <= from {
		c.list = append(c.list, idRange[T]{from, to, v})
		return
	}
	i := c.cut(from)
	c.list = slices.Replace(c.list, i, c.cut(to), idRange[T]{from, to, v})
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
	c := x[r.Client]
	if c == nil {
		if r.Len > 0 {
			f(r, none, false)
		}
		return
	}
	list, i := c.list, c.find(r.Clock)
	for r.Len > 0 {
		if i == len(list) || list[i].from >= r.Clock+r.Len {
			f(r, none, false)
			break
		}
		if n := list[i].from; n > r.Clock {
			f(r.Part(0, n-r.Clock), none, false)
			r = r.Part(n-r.Clock, r.Len-(n-r.Clock))
		}
		n := min(r.Len, list[i].to-r.Clock)
		f(r.Part(0, n), list[i].value, true)
		r, i = r.Part(n, r.Len-n), i+1
	}
	c.last.Store(int64(max(0, i-1)))
}

func (x Ranges[T]) Has(r IDRange) (has bool) {
	x.Each(r.Part(0, 1), func(_ IDRange, _ T, ok bool) { has = ok })
	return has
}
