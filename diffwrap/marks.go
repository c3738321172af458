package diffwrap

import "strings"

// Span is a half-open range of bytes.
type Span struct{ Start, End int }

// Len is the number of bytes.
func (s Span) Len() int { return s.End - s.Start }

// Empty says that there is nothing in it.
func (s Span) Empty() bool { return s.Start >= s.End }

func (s span) public() Span { return Span{s.start, s.end} }

// Mark is one addition, deletion or substitution of a raw text as it stands there. What
// lies between its contents and its ends is delimiters, metadata and attribution.
type Mark struct {
	Span
	Deleted, Added Span // what the original view and what the accepted view shows of it
	Highlight      bool // it stands in a highlight
	Comment        bool // it deletes a comment, or a part of one
}

// Content is text of the note itself: what is no markup, and no comment.
type Content struct {
	Span
	Mark           int  // which of the marks it stands in, -1 for plain text
	Deleted, Added bool // of a mark
}

// Layout lists the marks of a raw text, all its text, and what is neither: comments and the delimiters of highlights, each
// in order.
func Layout(raw string) (marks []Mark, text []Content, furniture []Span) {
	doc := parse(raw)
	for i := range doc.cells {
		c := &doc.cells[i]
		switch {
		case c.kind == textCell:
			text = append(text, Content{c.span.public(), -1, false, false})
		case c.isSuggestion():
			if !c.deleted.empty() {
				text = append(text, Content{c.deleted.public(), len(marks), true, false})
			}
			if !c.added.empty() {
				text = append(text, Content{c.added.public(), len(marks), false, true})
			}
			marks = append(marks, Mark{c.span.public(), c.deleted.public(), c.added.public(), c.highlight >= 0, c.comment > 0})
		default:
			furniture = append(furniture, c.span.public())
		}
	}
	return marks, text, furniture
}

// Texts returns the text that stands if every suggestion is rejected, and if every one is accepted, without comments; one
// whose deletion is pending counts as text.
func Texts(raw string) (original, accepted string) {
	doc := parse(raw)
	if doc.plain() {
		return raw, raw
	}
	var o, a strings.Builder
	o.Grow(len(raw))
	a.Grow(len(raw))
	for i := range doc.cells {
		if c := &doc.cells[i]; c.kind != commentCell {
			o.WriteString(c.deleted.of(raw))
			a.WriteString(c.added.of(raw))
		}
	}
	return o.String(), a.String()
}

// Separate returns the edits that take typed, stretches inside additions and deletions of raw, out of those marks to
// stand plain at their place, and take away the marks without text that empty names. typed is in order, without
// overlaps.
func Separate(raw string, typed []Span, empty func(start, end int) bool) []Edit {
	var edits []Edit
	doc := parse(raw)
	for i := range doc.cells {
		c := &doc.cells[i]
		if c.kind != additionCell && c.kind != deletionCell {
			continue
		}
		for len(typed) > 0 && typed[0].End <= c.body.start {
			typed = typed[1:]
		}
		n := 0
		for n < len(typed) && typed[n].Start < c.body.end {
			n++
		}
		if n > 0 || c.body.empty() && empty(c.start, c.end) {
			edits = c.separate(edits, raw, typed[:n])
			typed = typed[n:]
		}
	}
	return edits
}

// separate takes stretches of one mark's body out of it.
func (c *cell) separate(edits []Edit, raw string, typed []Span) []Edit {
	open, close := raw[c.start:c.body.start], raw[c.body.end:c.end]
	var kept []span
	at := c.body.start
	for _, t := range typed {
		kept = appendSpan(kept, span{at, max(at, t.Start)})
		at = t.End
	}
	kept = appendSpan(kept, span{min(at, c.body.end), c.body.end})
	if len(kept) == 0 {
		edits = appendEdit(edits, Edit{Off: c.start, Len: len(open)})
		return appendEdit(edits, Edit{Off: c.body.end, Len: len(close)})
	}
	if kept[0].start > c.body.start {
		edits = appendEdit(edits, Edit{Off: c.start, Len: len(open)})
		edits = appendEdit(edits, Edit{Off: kept[0].start, New: open})
	}
	for i := range kept[1:] {
		edits = appendEdit(edits, Edit{Off: kept[i].end, New: close})
		edits = appendEdit(edits, Edit{Off: kept[i+1].start, New: open})
	}
	if end := kept[len(kept)-1].end; end < c.body.end {
		edits = appendEdit(edits, Edit{Off: end, New: close})
		edits = appendEdit(edits, Edit{Off: c.body.end, Len: len(close)})
	}
	return edits
}

func appendSpan(list []span, s span) []span {
	if s.empty() {
		return list
	}
	return append(list, s)
}

// CheckFrontMatter says what is wrong with a front matter block, fences included: it must be a YAML mapping.
func CheckFrontMatter(block string) error { return checkYAML(block) }

// Compose returns the script that does to a text of that size what first does, and then second, whose places are of the
// text after first.
func Compose(size int, first, second []Edit) []Edit {
	if len(first) == 0 {
		return second
	}
	between := stretches(size, first)
	var out []Edit
	off := 0 // in the text before first
	take := func(n int, keep bool) {
		for n > 0 {
			s := &between[0]
			m := min(n, s.len())
			if s.new == "" {
				out = appendEdit(out, Edit{Off: off, Len: s.start - off})
				off = s.start + m
				if !keep {
					out = appendEdit(out, Edit{Off: s.start, Len: m})
				}
			} else if keep {
				out = appendEdit(out, Edit{Off: off, New: s.new[s.start : s.start+m]})
			}
			n -= m
			if s.start += m; s.empty() {
				between = between[1:]
			}
		}
	}
	at := 0 // in the text between
	for _, e := range second {
		take(e.Off-at, true)
		take(e.Len, false)
		out = appendEdit(out, Edit{Off: off, New: e.New})
		at = e.Off + e.Len
	}
	for len(between) > 0 {
		take(between[0].len(), true)
	}
	return appendEdit(out, Edit{Off: off, Len: size - off})
}

// stretch is a piece of an edited text: of the text before, or of new.
type stretch struct {
	span
	new string
}

// stretches are what a script leaves and what it puts between.
func stretches(size int, edits []Edit) (list []stretch) {
	at := 0
	for _, e := range append(edits[:len(edits):len(edits)], Edit{Off: size}) {
		if e.Off > at {
			list = append(list, stretch{span: span{at, e.Off}})
		}
		if e.New != "" {
			list = append(list, stretch{span{0, len(e.New)}, e.New})
		}
		at = e.Off + e.Len
	}
	return list
}
