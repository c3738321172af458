package critic

import (
	"time"

	"github.com/relayfs/relayfs/diffwrap/internal/script"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Kind says what a cell of the raw text is.
type Kind uint8

const (
	Text Kind = iota
	Addition
	Deletion
	Substitution
	Comment
	HighlightOpen
	HighlightClose
	Hidden // attribution that no view shows: see dialect.go
)

// Cell is one piece of the raw text. The cells of a document follow one another without gaps.
type Cell struct {
	Kind      Kind
	Resolved  bool      // of a comment: dealt with, hidden from views
	Comment   int       // of deletions: those that delete one whole comment have the same number, others 0
	Highlight int       // the cell that opens the highlight around this one, -1 outside
	span.Span           // of raw, with delimiters, metadata and the dialect's tail
	Body      span.Span // what stands between the delimiters, after the metadata
	Close     int       // offset just after the closing delimiter, where the dialect's tail starts
	Added     span.Span // what the accepted view shows
	Deleted   span.Span // what the original view shows
	Attribution
}

// Attribution is what a dialect says about the writer of a mark.
type Attribution struct {
	Author string
	Time   time.Time
	ID     string // Roughdraft's document-local id
}

func (c *Cell) IsSuggestion() bool {
	return c.Kind == Addition || c.Kind == Deletion || c.Kind == Substitution
}

// Kept is what a decision leaves of a mark.
func (c *Cell) Kept(accept bool) span.Span {
	switch {
	case accept && !c.Added.Empty():
		return c.Added
	case !accept && !c.Deleted.Empty():
		return c.Deleted
	}
	return span.New(c.End, c.End)
}

// Reduce appends the edits that leave a part of a cell.
func (c *Cell) Reduce(edits []script.Edit, left span.Span) []script.Edit {
	edits = script.Append(edits, script.Edit{Off: c.Start, Len: left.Start - c.Start})
	return script.Append(edits, script.Edit{Off: left.End, Len: c.End - left.End})
}

// visible returns the span of raw that a view shows of a cell.
func (c *Cell) visible(v View) span.Span {
	switch {
	case v == AcceptedView:
		return c.Added
	case c.Comment > 0:
		return span.New(c.End, c.End)
	}
	return c.Deleted
}
