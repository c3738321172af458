package passage

import (
	"math"
	"slices"

	"github.com/relayfs/relayfs/diffwrap"
)

// Set is a set of bytes of a text, as places in order that do not touch each other.
type Set []Place

// All returns the set of all bytes of text.
func All(text string) Set {
	if text == "" {
		return nil
	}
	return Set{{0, len(text)}}
}

// With returns the union of s and p.
func (s Set) With(p Place) Set {
	if p.Start >= p.End {
		return s
	}
	out := make(Set, 0, len(s)+1)
	for _, q := range s {
		if q.End < p.Start || p.End < q.Start {
			out = append(out, q)
			continue
		}
		p = Place{min(p.Start, q.Start), max(p.End, q.End)}
	}
	out = append(out, p)
	slices.SortFunc(out, func(a, b Place) int { return a.Start - b.Start })
	return out
}

// Lacks returns the first part of p that is not in s.
func (s Set) Lacks(p Place) (part Place, lacks bool) {
	for _, q := range s {
		switch {
		case q.End <= p.Start:
			continue
		case q.Start > p.Start:
			return Place{p.Start, min(p.End, q.Start)}, p.Start < p.End
		}
		p.Start = q.End
	}
	return p, p.Start < p.End
}

// Through returns s after edits. The new text of the edits is in the set if own is set.
func (s Set) Through(edits []diffwrap.Edit, own bool) Set {
	if len(edits) == 0 {
		return s
	}
	var out Set
	add := func(p Place) {
		if p.Start >= p.End {
			return
		}
		if n := len(out); n > 0 && out[n-1].End == p.Start {
			out[n-1].End = p.End
			return
		}
		out = append(out, p)
	}
	i, shift, from := 0, 0, 0
	// keep adds the part of s between from and to.
	keep := func(to int) {
		for ; i < len(s) && s[i].Start < to; i++ {
			add(Place{max(s[i].Start, from) + shift, min(s[i].End, to) + shift})
			if s[i].End > to {
				return
			}
		}
	}
	for _, e := range edits {
		keep(e.Off)
		at := e.Off + shift
		if own {
			add(Place{at, at + len(e.New)})
		}
		from = e.Off + e.Len
		shift += len(e.New) - e.Len
		for i < len(s) && s[i].End <= from {
			i++
		}
	}
	keep(math.MaxInt)
	return out
}

// Between returns s, a set of bytes of old, after the changes from old to new.
func (s Set) Between(old, new string, own bool) Set {
	if old == new || len(s) == 0 && !own {
		return s
	}
	return s.Through(diffwrap.Diff(old, new), own)
}
