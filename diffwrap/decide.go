package diffwrap

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Accept returns the edits that accept the chosen suggestions of raw, as Suggestions found them in the same text: their
// delimiters, metadata of any dialect, attached comments and deleted text go. Nothing else changes, except that
// highlights of which nothing is left go too. Suggestions that raw does not have are ignored.
func (k Known) Accept(raw string, chosen ...Suggestion) []Edit {
	return k.Decide(raw, true, nil, chosen...)
}

// Fate is what a decision on a suggestion does to a comment that is attached to it.
type Fate int

const (
	Goes Fate = iota
	Stays
	Reopened // without the mark that it is resolved
)

// Attached is a comment directly after a suggestion that is decided on.
type Attached struct {
	Span
	Resolved Span // what says that it is resolved; empty if it is not
	Mark     Span // the last mark of the suggestion
}

// among reports whether a place is in the given suggestions. It is asked for places in order.
func among(chosen []Suggestion) func(Span) bool {
	var places []Span
	for i := range chosen {
		places = append(places, chosen[i].Stretches()...)
	}
	slices.SortFunc(places, func(a, b Span) int { return a.Start - b.Start })
	return func(at Span) bool {
		for len(places) > 0 && places[0].End <= at.Start {
			places = places[1:]
		}
		return len(places) > 0 && places[0].Start <= at.Start && at.End <= places[0].End
	}
}

// Decide is Accept or, without accept, its reverse: the added text goes and the deleted text stays. fate, unless nil,
// says what becomes of the comments.
func (k Known) Decide(raw string, accept bool, fate func(Attached) Fate, suggestions ...Suggestion) []Edit {
	doc, chosen := k.parse(raw), among(suggestions)
	ids := make(map[string]bool)
	left := make([]Span, len(doc.Cells)) // of each cell
	reopened := make(map[int]Edit)       // by cell
	mark := -1                           // the chosen mark that comments here are attached to
	for i := range doc.Cells {
		c := &doc.Cells[i]
		left[i] = c.Span
		switch {
		case c.IsSuggestion() && chosen(c.Span):
			mark = i
			left[i] = c.Kept(accept)
			ids[c.ID] = true
		case c.Kind == critic.Comment && mark >= 0:
			at, becomes := Attached{Span: c.Span, Mark: doc.Cells[mark].Span}, Goes
			if c.Resolved {
				at.Resolved = resolution(doc, c)
			}
			if fate != nil {
				becomes = fate(at)
			}
			if becomes == Goes {
				left[i] = span.New(c.End, c.End)
				ids[c.ID] = true
			} else if becomes == Reopened {
				reopened[i] = Edit{Off: at.Resolved.Start, Len: at.Resolved.Len()}
			}
		default:
			mark = -1
		}
	}
	dropEmptied(doc, left)
	var edits []Edit
	for i := range doc.Cells {
		edits = span.Append(edits, reopened[i])
		edits = doc.Cells[i].Reduce(edits, left[i])
	}
	delete(ids, "")
	for _, e := range doc.Forget(ids) {
		edits = span.Append(edits, e)
	}
	return edits
}

// resolution is the part of a comment that says that it is resolved, as an older relayfs wrote it.
func resolution(d *critic.Document, c *critic.Cell) Span {
	head := d.Raw[c.Start:c.Body.Start]
	for _, mark := range []string{`{"done":true}@@`, `,"done":true`, `"done":true,`, ` resolved="true"`} {
		if at := strings.Index(head, mark); at >= 0 {
			return span.New(c.Start+at, c.Start+at+len(mark))
		}
	}
	return Span{}
}

// dropEmptied leaves nothing of highlights that were not empty and of whose content nothing is left.
func dropEmptied(d *critic.Document, left []Span) {
	open := -1
	for i := range d.Cells {
		switch {
		case d.Cells[i].Kind == critic.HighlightOpen:
			open = i
		case d.Cells[i].Kind == critic.HighlightClose:
			if open >= 0 && i > open+1 {
				left[open].End, left[i].Start = left[open].Start, left[i].End
			}
			open = -1
		case !left[i].Empty():
			open = -1
		}
	}
}
