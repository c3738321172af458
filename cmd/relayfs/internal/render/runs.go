package render

import (
	"sort"

	"github.com/relayfs/relayfs/diffwrap"
)

// Kind is the effect that accepting a suggestion has on a part of the note, or "" if there is no effect.
type Kind string

const (
	Old Kind = "old" // accepting deletes the part
	New Kind = "new" // accepting adds the part
)

type run struct {
	at   int // offset in the merged text
	text string
	kind Kind
	id   string // ID of the suggestion; also set for unchanged text inside the suggestion's marks
}

func (r *run) end() int { return r.at + len(r.text) }

// merged is a note with both its deleted and its added text, in the order of the raw text. The views before and after
// the changes map to offsets in the merged text.
type merged struct {
	runs []run
	size int
}

func (m *merged) add(kind Kind, id, text string) {
	if text == "" {
		return
	}
	if n := len(m.runs); n > 0 && m.runs[n-1].kind == kind && m.runs[n-1].id == id {
		m.runs[n-1].text += text
	} else {
		m.runs = append(m.runs, run{m.size, text, kind, id})
	}
	m.size += len(text)
}

func (m *merged) runAt(off int) int {
	return min(sort.Search(len(m.runs), func(i int) bool { return m.runs[i].end() > off }), len(m.runs)-1)
}

func (m *merged) nearest(off int) string {
	if len(m.runs) == 0 {
		return ""
	}
	at := m.runAt(off)
	before, after := at, at
	for before >= 0 && m.runs[before].id == "" {
		before--
	}
	for after < len(m.runs) && m.runs[after].id == "" {
		after++
	}
	switch {
	case before < 0 && after == len(m.runs):
		return ""
	case before < 0 || after < len(m.runs) && m.runs[after].at-off < off-m.runs[before].end():
		return m.runs[after].id
	}
	return m.runs[before].id
}

type edges struct{ first, last int }

func (m *merged) edges() map[string]edges {
	byID := make(map[string]edges)
	for i := range m.runs {
		id := m.runs[i].id
		if id == "" {
			continue
		}
		e, ok := byID[id]
		if !ok {
			e.first = i
		}
		e.last = i
		byID[id] = e
	}
	return byID
}

// merge reads a raw text; places are the marks of its suggestions. Words that occur in both the old and the new text of
// a replacement count as unchanged. pieces maps offsets in raw to offsets in the merged text.
func merge(raw string, known diffwrap.Known, places map[string][]diffwrap.Span) (m *merged, pieces []place) {
	marks, text, _ := known.Layout(raw)
	ids := byStart(places)
	m = &merged{}
	var old, new, id string
	flush := func() {
		at := 0
		for _, e := range diffwrap.DiffWords(old, new) {
			m.add("", id, old[at:e.Off])
			m.add(Old, id, old[e.Off:e.Off+e.Len])
			m.add(New, id, e.New)
			at = e.Off + e.Len
		}
		m.add("", id, old[at:])
		old, new, id = "", "", ""
	}
	for _, t := range text {
		var of string
		if t.Mark >= 0 {
			if marks[t.Mark].Comment {
				continue // a comment is not part of the note's text
			}
			of = ids.at(marks[t.Mark].Start)
		}
		if t.Mark < 0 || of != id || t.Deleted && new != "" {
			flush()
		}
		pieces = append(pieces, place{t.Start, m.size + len(old) + len(new)})
		switch id = of; {
		case t.Mark < 0:
			m.add("", "", t.Of(raw))
		case t.Deleted:
			old += t.Of(raw)
		default:
			new += t.Of(raw)
		}
	}
	flush()
	return m, pieces
}

type place struct{ raw, merged int }

func placeOf(pieces []place, raw int) int {
	i := sort.Search(len(pieces), func(i int) bool { return pieces[i].raw > raw })
	if i == 0 {
		return 0
	}
	// A comment belongs to the text before it.
	if p := pieces[i-1]; i < len(pieces) {
		return min(p.merged+raw-p.raw, pieces[i].merged)
	}
	return pieces[i-1].merged + raw - pieces[i-1].raw
}

type markSpan struct {
	diffwrap.Span
	id string
}

type markSpans []markSpan

func byStart(places map[string][]diffwrap.Span) markSpans {
	var all markSpans
	for id, spans := range places {
		for _, s := range spans {
			all = append(all, markSpan{s, id})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Start < all[j].Start })
	return all
}

func (all markSpans) at(off int) string {
	i := sort.Search(len(all), func(i int) bool { return all[i].End > off })
	if i < len(all) && all[i].Start <= off {
		return all[i].id
	}
	return ""
}

// view is the note before or after the changes: a merged text without the runs of one kind.
type view struct {
	of   *merged
	text []byte
	segs []segment
}

type segment struct{ off, run int }

func (m *merged) without(kind Kind) *view {
	v := &view{of: m}
	for i := range m.runs {
		if m.runs[i].kind != kind {
			v.segs = append(v.segs, segment{len(v.text), i})
			v.text = append(v.text, m.runs[i].text...)
		}
	}
	return v
}

func (v *view) segmentAt(off int) int {
	return sort.Search(len(v.segs), func(i int) bool { return v.segs[i].off > off }) - 1
}

func (v *view) place(off int) int {
	i := v.segmentAt(off)
	if i < 0 {
		return 0
	}
	return v.of.runs[v.segs[i].run].at + off - v.segs[i].off
}
