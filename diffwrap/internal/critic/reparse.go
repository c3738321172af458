package critic

import (
	"sort"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// This file parses a text again after a change. Parse remains the definition: Reparse returns the same document or
// none.

// isLocal reports whether each cell depends only on its own text and the rest of its last line: every opener opens a
// known mark, none deletes a comment, and no attribution follows a mark.
func (p *parser) isLocal() bool {
	return !p.loose && p.literals == nil && !p.tails && !p.Known.every
}

// Reparse returns the result of Parse for a text whose first bytes and last bytes are the same as in d. It copies the
// cells of these bytes and parses only the cells between them. part is the range of raw with these cells. It returns nil
// if the cells may depend on other text, or if known differs outside of part. done is the result if there is one
// already, or nil.
func (d *Document) Reparse(raw string, known Known, first, last int, done *Document) (after *Document, part span.Span) {
	i, j, lastBreak := d.changed(first, last)
	by := len(raw) - len(d.Raw)
	from, to := d.startOf(i), d.startOf(j)
	if !d.local || !known.Before(from).Same(d.Known.Before(from)) || !known.From(to+by).Same(d.Known.From(to).Shift(by)) {
		return nil, part
	}
	ends := func(cells []Cell) bool { // cells end with the text that has the last line break
		n := len(cells) - 1
		return j == len(d.Cells) || n >= 0 && cells[n].Kind == Text && cells[n].Start <= lastBreak+by
	}
	part = span.New(from, to+by)
	if done != nil {
		cells := done.Within(span.New(0, part.End))
		if !done.local || !ends(cells) || done.startOf(len(cells)) != part.End {
			return nil, part
		}
		return done, part
	}
	p := parser{Document: &Document{Raw: raw, Cells: make([]Cell, i, len(d.Cells)+maxRoom), Unclosed: -1, Known: known}}
	copy(p.Cells, d.Cells)
	p.scan(from, to+by, -1)
	end := len(p.Cells)
	if !p.isLocal() || !ends(p.Cells) {
		return nil, part
	}
	p.Cells = append(p.Cells, d.Cells[j:]...)
	for k := range p.Cells[end:] {
		p.Cells[end+k].shift(by)
	}
	p.local = true
	return p.Document, part
}

// changed returns the range of cells that a change may affect: all except first and last bytes of the text changed. The
// range begins with text that is the same up to a line break, and ends with text that is the same from a line break,
// at lastBreak: no opener or attribution has a line break in it.
func (d *Document) changed(first, last int) (i, j, lastBreak int) {
	hasBreak := func(i, from, to int) (at int, ok bool) {
		c := &d.Cells[i]
		from, to = max(from, c.Start), min(to, c.End)
		if c.Kind != Text || from >= to {
			return 0, false
		}
		at = strings.LastIndexByte(d.Raw[from:to], '\n')
		return from + at, at >= 0
	}
	last = len(d.Raw) - last
	for i = sort.Search(len(d.Cells), func(i int) bool { return d.Cells[i].End > first }); i > 0; i-- {
		if i < len(d.Cells) {
			if _, ok := hasBreak(i, 0, first); ok {
				break
			}
		}
	}
	for j = max(i+1, sort.Search(len(d.Cells), func(i int) bool { return d.Cells[i].Start >= last })); j < len(d.Cells); j++ {
		if at, ok := hasBreak(j-1, last, len(d.Raw)); ok {
			return i, j, at
		}
	}
	return i, len(d.Cells), 0
}

// Within returns the cells that start in a range.
func (d *Document) Within(s span.Span) []Cell {
	at := func(off int) int {
		return sort.Search(len(d.Cells), func(i int) bool { return d.Cells[i].Start >= off })
	}
	return d.Cells[at(s.Start):at(s.End)]
}

func (d *Document) startOf(i int) int {
	if i < len(d.Cells) {
		return d.Cells[i].Start
	}
	return len(d.Raw)
}

func (c *Cell) shift(by int) {
	c.Span, c.Body = c.Span.Shift(by), c.Body.Shift(by)
}
