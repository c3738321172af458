package mcpserver

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap"
)

// seen is what of a text a session knows: places in order, none touching the next.
type seen []place

// all is everything of text.
func all(text string) seen {
	if text == "" {
		return nil
	}
	return seen{{0, len(text)}}
}

// with is s and p.
func (s seen) with(p place) seen {
	if p.start >= p.end {
		return s
	}
	out := make(seen, 0, len(s)+1)
	for _, q := range s {
		if q.end < p.start || p.end < q.start {
			out = append(out, q)
			continue
		}
		p = place{min(p.start, q.start), max(p.end, q.end)}
	}
	out = append(out, p)
	slices.SortFunc(out, func(a, b place) int { return a.start - b.start })
	return out
}

// lacks is the first part of p that is not in s.
func (s seen) lacks(p place) (part place, lacks bool) {
	for _, q := range s {
		switch {
		case q.end <= p.start:
			continue
		case q.start > p.start:
			return place{p.start, min(p.end, q.start)}, p.start < p.end
		}
		p.start = q.end
	}
	return p, p.start < p.end
}

// through is what s is after edits, of which own ones are known, too.
func (s seen) through(edits []diffwrap.Edit, own bool) seen {
	if len(edits) == 0 {
		return s
	}
	var out seen
	add := func(p place) {
		if p.start >= p.end {
			return
		}
		if n := len(out); n > 0 && out[n-1].end == p.start {
			out[n-1].end = p.end
			return
		}
		out = append(out, p)
	}
	i, shift, from := 0, 0, 0
	// keep carries what s has between from and to.
	keep := func(to int) {
		for ; i < len(s) && s[i].start < to; i++ {
			add(place{max(s[i].start, from) + shift, min(s[i].end, to) + shift})
			if s[i].end > to {
				return
			}
		}
	}
	for _, e := range edits {
		keep(e.Off)
		at := e.Off + shift
		if own {
			add(place{at, at + len(e.New)})
		}
		from = e.Off + e.Len
		shift += len(e.New) - e.Len
		for i < len(s) && s[i].end <= from {
			i++
		}
	}
	keep(int(^uint(0) >> 1))
	return out
}

// between is s, which is of old, as it is in new.
func (s seen) between(old, new string, own bool) seen {
	if old == new || len(s) == 0 && !own {
		return s
	}
	return s.through(diffwrap.Diff(old, new), own)
}
