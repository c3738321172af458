package diffwrap

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/script"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Accept returns the edits that accept the chosen suggestions of raw, as found by Suggestions on the same text: their
// delimiters, metadata of any dialect, attached comments and deleted text go; nothing else changes, but for highlights
// of which nothing is left. What raw does not have (any more) is passed over.
func Accept(raw string, chosen ...Suggestion) []script.Edit { return Decide(raw, true, nil, chosen...) }

// Reject is Accept the other way: the added text goes and the deleted text stays.
func Reject(raw string, chosen ...Suggestion) []script.Edit {
	return Decide(raw, false, nil, chosen...)
}

// AcceptAll returns the edits that accept every suggestion of raw. Highlights, and comments that are attached to no
// suggestion, stay.
func AcceptAll(raw string) []script.Edit { return decide(parse(raw), everyone, true, nil) }

// RejectAll returns the edits that reject every suggestion of raw.
func RejectAll(raw string) []script.Edit { return decide(parse(raw), everyone, false, nil) }

// Fate is what a decision on a suggestion does to a comment that is attached to it.
type Fate int

const (
	Goes     Fate = iota
	Stays         // as it is
	Reopened      // without the mark that it is resolved
)

// Attached is a comment directly behind a suggestion that is decided on.
type Attached struct {
	span.Span
	Resolved span.Span // what says that it is resolved; empty if it is not
	Mark     span.Span // the last mark of the suggestion
}

// Decide is Accept or Reject; fate, unless nil, says what becomes of the comments.
func Decide(raw string, accept bool, fate func(Attached) Fate, chosen ...Suggestion) []script.Edit {
	return decide(parse(raw), among(chosen), accept, fate)
}

// everyone chooses every suggestion.
func everyone(span.Span) bool { return true }

// among chooses what stands in the given suggestions, for places that are asked for in order.
func among(chosen []Suggestion) func(span.Span) bool {
	var places []span.Span
	for i := range chosen {
		places = append(places, chosen[i].Stretches()...)
	}
	slices.SortFunc(places, func(a, b span.Span) int { return a.Start - b.Start })
	return func(at span.Span) bool {
		for len(places) > 0 && places[0].End <= at.Start {
			places = places[1:]
		}
		return len(places) > 0 && places[0].Start <= at.Start && at.End <= places[0].End
	}
}

// decide carries out a decision on the marks that are chosen and the comments directly behind them.
func decide(doc *document, chosen func(span.Span) bool, accept bool, fate func(Attached) Fate) []script.Edit {
	if doc.plain() {
		return nil
	}
	ids := make(map[string]bool)
	left := make([]span.Span, len(doc.cells)) // of each cell
	var reopened []script.Edit
	mark := -1 // the chosen mark that comments here are attached to
	for i := range doc.cells {
		c := &doc.cells[i]
		left[i] = c.Span
		switch {
		case c.isSuggestion() && chosen(c.Span):
			mark = i
			left[i] = c.kept(accept)
			ids[c.id] = true
		case c.kind == commentCell && mark >= 0:
			at, becomes := doc.attached(c, mark), Goes
			if fate != nil {
				becomes = fate(at)
			}
			if becomes == Goes {
				left[i] = span.New(c.End, c.End)
				ids[c.id] = true
			} else if becomes == Reopened {
				reopened = script.Append(reopened, script.Edit{Off: at.Resolved.Start, Len: at.Resolved.Len()})
			}
		default:
			mark = -1
		}
	}
	if accept {
		doc.dropEmptied(left)
	}
	var edits []script.Edit
	for i := range doc.cells {
		for len(reopened) > 0 && reopened[0].Off < doc.cells[i].Start {
			edits = script.Append(edits, reopened[0])
			reopened = reopened[1:]
		}
		edits = doc.cells[i].reduce(edits, left[i])
	}
	edits = append(edits, reopened...)
	delete(ids, "")
	for _, e := range doc.forget(ids) {
		edits = script.Append(edits, e)
	}
	return edits
}

func (d *document) attached(c *cell, mark int) Attached {
	at := Attached{Span: c.Span, Mark: d.cells[mark].Span}
	if c.resolved {
		if s, ok := d.resolution(c); ok {
			at.Resolved = s
		}
	}
	return at
}

// resolution is what says in a comment that it is dealt with, as an older relayfs wrote it.
func (d *document) resolution(c *cell) (span.Span, bool) {
	head := d.raw[c.Start:c.body.Start]
	for _, mark := range []string{`{"done":true}@@`, `,"done":true`, `"done":true,`, ` resolved="true"`} {
		if at := strings.Index(head, mark); at >= 0 {
			return span.New(c.Start+at, c.Start+at+len(mark)), true
		}
	}
	return span.Span{}, false
}

// dropEmptied leaves nothing of highlights that had something in them, of which nothing is left.
func (d *document) dropEmptied(left []span.Span) {
	open := -1
	for i := range d.cells {
		switch {
		case d.cells[i].kind == highlightOpenCell:
			open = i
		case d.cells[i].kind == highlightCloseCell:
			if open >= 0 && i > open+1 {
				left[open].End, left[i].Start = left[open].Start, left[i].End
			}
			open = -1
		case !left[i].Empty():
			open = -1
		}
	}
}

// kept is what a decision leaves of a mark.
func (c *cell) kept(accept bool) span.Span {
	switch {
	case accept && !c.added.Empty():
		return c.added
	case !accept && !c.deleted.Empty():
		return c.deleted
	}
	return span.New(c.End, c.End)
}

// reduce appends the edits that leave a part of a cell.
func (c *cell) reduce(edits []script.Edit, left span.Span) []script.Edit {
	edits = script.Append(edits, script.Edit{Off: c.Start, Len: left.Start - c.Start})
	return script.Append(edits, script.Edit{Off: left.End, Len: c.End - left.End})
}
