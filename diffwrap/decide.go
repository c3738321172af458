package diffwrap

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Accept returns the edits that accept the chosen suggestions of raw. The chosen suggestions must be results of
// Suggestions or SuggestionsBy for raw. The edits delete the suggestions' delimiters, metadata of any dialect, attached
// comments and deleted text, and highlights that become empty. They change nothing else.
func (k Known) Accept(raw string, chosen ...Suggestion) []Edit {
	return k.Decide(raw, true, nil, chosen...)
}

// Attached is a comment directly after a decided suggestion, to which it belongs.
type Attached struct {
	Span
	Mark Span // last mark of the suggestion
}

// among returns a function that reports whether a span is part of the chosen suggestions. The function must be called
// with spans in the order of the text.
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

// Decide returns the edits that accept suggestions, or that reject them if accept is false. A rejection deletes the
// added text and keeps the deleted text. The edits also delete highlights that become empty, and attached comments
// except those for which keeps returns true.
func (k Known) Decide(raw string, accept bool, keeps func(Attached) bool, suggestions ...Suggestion) []Edit {
	doc, chosen := k.parse(raw), among(suggestions)
	left := make([]Span, len(doc.Cells)) // remaining part of each cell
	mark := -1                           // last decided mark, while its attached comments follow; -1 for none
	for i := range doc.Cells {
		c := &doc.Cells[i]
		left[i] = c.Span
		switch {
		case c.IsSuggestion() && chosen(c.Span):
			mark = i
			left[i] = c.Kept(accept)
		case c.Kind == critic.Comment && mark >= 0:
			if keeps == nil || !keeps(Attached{c.Span, doc.Cells[mark].Span}) {
				left[i] = span.New(c.End, c.End)
			}
		default:
			mark = -1
		}
	}
	dropEmptied(doc, left)
	var edits []Edit
	for i := range doc.Cells {
		edits = doc.Cells[i].Reduce(edits, left[i])
	}
	return edits
}

// dropEmptied removes highlights that have lost all their content.
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
