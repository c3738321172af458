package render

import (
	"sort"

	"github.com/relayfs/relayfs/diffwrap"
)

// Kind says what becomes of a part of the note when its suggestion is accepted. It stays, or:
type Kind string

const (
	Old Kind = "old" // goes
	New Kind = "new" // comes
)

// run is a stretch of the merged text that has one kind.
type run struct {
	at   int // offset in the merged text
	text string
	kind Kind
	id   string // of the suggestion, also of text that it leaves as it is
}

func (r *run) end() int { return r.at + len(r.text) }

// merged is a note with what goes and what comes both in place, in the order of the raw text. An offset in
// it names the same place in the view before the changes and in the one after them.
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

// runAt returns the index of the run that holds an offset, or that ends the text.
func (m *merged) runAt(off int) int {
	return min(sort.Search(len(m.runs), func(i int) bool { return m.runs[i].end() > off }), len(m.runs)-1)
}

// nearest returns the suggestion that is nearest to an offset.
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

// edges are the runs of a suggestion, first to last.
type edges struct{ first, last int }

func (m *merged) edges() map[string]edges {
	known := make(map[string]edges)
	for i := range m.runs {
		id := m.runs[i].id
		if id == "" {
			continue
		}
		e, ok := known[id]
		if !ok {
			e.first = i
		}
		e.last = i
		known[id] = e
	}
	return known
}

// merge reads a raw text whose suggestions have their marks at the places. Where old text is replaced by new
// text, the words that both have stay. rawAt has the offset in the merged text of each offset in raw that
// begins a piece of it.
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
				continue // a comment is no text of the note
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

// place says where an offset in the raw text is in the merged one.
type place struct{ raw, merged int }

// placeOf returns where what begins at an offset of the raw text stands in the merged text.
func placeOf(pieces []place, raw int) int {
	i := sort.Search(len(pieces), func(i int) bool { return pieces[i].raw > raw })
	if i == 0 {
		return 0
	}
	// A comment stands behind the text before it.
	if p := pieces[i-1]; i < len(pieces) {
		return min(p.merged+raw-p.raw, pieces[i].merged)
	}
	return pieces[i-1].merged + raw - pieces[i-1].raw
}

// markSpan is where marks of a suggestion stand.
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

// view is one side of a merged text.
type view struct {
	of   *merged
	text []byte
	segs []segment
}

// segment says that the bytes of a view from off on are those of a run, after skip bytes of it.
type segment struct{ off, run int }

// without returns the view that lacks the runs of a kind.
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

// segmentAt returns the index of the segment with an offset of the view.
func (v *view) segmentAt(off int) int {
	return sort.Search(len(v.segs), func(i int) bool { return v.segs[i].off > off }) - 1
}

// place returns where an offset of the view stands in the merged text.
func (v *view) place(off int) int {
	i := v.segmentAt(off)
	if i < 0 {
		return 0
	}
	return v.of.runs[v.segs[i].run].at + off - v.segs[i].off
}
