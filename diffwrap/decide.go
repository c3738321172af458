package diffwrap

import (
	"slices"
	"strings"
)

// Accept returns the edits that accept the chosen suggestions of raw, as found by Suggestions on the same text: their
// delimiters, metadata of any dialect, attached comments and deleted text go; nothing else changes, but for highlights
// of which nothing is left. What raw does not have (any more) is passed over.
func Accept(raw string, chosen ...Suggestion) []Edit { return Decide(raw, true, nil, chosen...) }

// Reject is Accept the other way: the added text goes and the deleted text stays.
func Reject(raw string, chosen ...Suggestion) []Edit { return Decide(raw, false, nil, chosen...) }

// AcceptAll returns the edits that accept every suggestion of raw. Highlights, and comments that are attached to no
// suggestion, stay.
func AcceptAll(raw string) []Edit { return decide(parse(raw), everyone, true, nil) }

// RejectAll returns the edits that reject every suggestion of raw.
func RejectAll(raw string) []Edit { return decide(parse(raw), everyone, false, nil) }

// Fate is what a decision on a suggestion does to a comment that is attached to it.
type Fate int

const (
	Goes     Fate = iota
	Stays         // as it is
	Reopened      // without the mark that it is resolved
)

// Attached is a comment directly behind a suggestion that is decided on.
type Attached struct {
	Span
	Resolved Span // what says that it is resolved; empty if it is not
	Mark     Span // the last mark of the suggestion
}

// Decide is Accept or Reject; fate, unless nil, says what becomes of the comments.
func Decide(raw string, accept bool, fate func(Attached) Fate, chosen ...Suggestion) []Edit {
	return decide(parse(raw), among(chosen), accept, fate)
}

// everyone chooses every suggestion.
func everyone(span) bool { return true }

// among chooses what stands in the given suggestions, for places that are asked for in order.
func among(chosen []Suggestion) func(span) bool {
	var places []Span
	for i := range chosen {
		places = append(places, chosen[i].Stretches()...)
	}
	slices.SortFunc(places, func(a, b Span) int { return a.Start - b.Start })
	return func(at span) bool {
		for len(places) > 0 && places[0].End <= at.start {
			places = places[1:]
		}
		return len(places) > 0 && places[0].Start <= at.start && at.end <= places[0].End
	}
}

// decide carries out a decision on the marks that are chosen and the comments directly behind them.
func decide(doc *document, chosen func(span) bool, accept bool, fate func(Attached) Fate) []Edit {
	if doc.plain() {
		return nil
	}
	ids := make(map[string]bool)
	left := make([]span, len(doc.cells)) // of each cell
	var reopened []Edit
	mark := -1 // the chosen mark that comments here are attached to
	for i := range doc.cells {
		c := &doc.cells[i]
		left[i] = c.span
		switch {
		case c.isSuggestion() && chosen(c.span):
			mark = i
			left[i] = c.kept(accept)
			ids[c.id] = true
		case c.kind == commentCell && mark >= 0:
			at, becomes := doc.attached(c, mark), Goes
			if fate != nil {
				becomes = fate(at)
			}
			if becomes == Goes {
				left[i] = span{c.end, c.end}
				ids[c.id] = true
			} else if becomes == Reopened {
				reopened = appendEdit(reopened, Edit{Off: at.Resolved.Start, Len: at.Resolved.Len()})
			}
		default:
			mark = -1
		}
	}
	if accept {
		doc.dropEmptied(left)
	}
	var edits []Edit
	for i := range doc.cells {
		for len(reopened) > 0 && reopened[0].Off < doc.cells[i].start {
			edits = appendEdit(edits, reopened[0])
			reopened = reopened[1:]
		}
		edits = doc.cells[i].reduce(edits, left[i])
	}
	edits = append(edits, reopened...)
	delete(ids, "")
	for _, e := range doc.forget(ids) {
		edits = appendEdit(edits, e)
	}
	return edits
}

func (d *document) attached(c *cell, mark int) Attached {
	at := Attached{Span: c.span.public(), Mark: d.cells[mark].span.public()}
	if c.resolved {
		if s, ok := d.resolution(c); ok {
			at.Resolved = s.public()
		}
	}
	return at
}

// resolution is what says in a comment that it is dealt with, as an older relayfs wrote it.
func (d *document) resolution(c *cell) (span, bool) {
	head := d.raw[c.start:c.body.start]
	for _, mark := range []string{`{"done":true}@@`, `,"done":true`, `"done":true,`, ` resolved="true"`} {
		if at := strings.Index(head, mark); at >= 0 {
			return span{c.start + at, c.start + at + len(mark)}, true
		}
	}
	return span{}, false
}

// dropEmptied leaves nothing of highlights that had something in them, of which nothing is left.
func (d *document) dropEmptied(left []span) {
	open := -1
	for i := range d.cells {
		switch {
		case d.cells[i].kind == highlightOpenCell:
			open = i
		case d.cells[i].kind == highlightCloseCell:
			if open >= 0 && i > open+1 {
				left[open].end, left[i].start = left[open].start, left[i].end
			}
			open = -1
		case !left[i].empty():
			open = -1
		}
	}
}

// kept is what a decision leaves of a mark.
func (c *cell) kept(accept bool) span {
	switch {
	case accept && !c.added.empty():
		return c.added
	case !accept && !c.deleted.empty():
		return c.deleted
	}
	return span{c.end, c.end}
}

// reduce appends the edits that leave a part of a cell.
func (c *cell) reduce(edits []Edit, left span) []Edit {
	edits = appendEdit(edits, Edit{Off: c.start, Len: left.start - c.start})
	return appendEdit(edits, Edit{Off: left.end, Len: c.end - left.end})
}
