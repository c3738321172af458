package critic

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// findDeletedComments assigns a number to the deletions that together delete a whole comment.
func (p *parser) findDeletedComments() {
	found := 0
	for i := 0; i < len(p.Cells); {
		n := 0
		for p.IsMark(i+n, Deletion) {
			n++
		}
		if n > 0 {
			found = p.numberComments(p.Cells[i:i+n], found)
		}
		i += n + 1
	}
}

// numberComments numbers the comments that adjacent deletions delete, starting with found+1. It returns the last
// number.
func (p *parser) numberComments(cells []Cell, found int) int {
	var text strings.Builder
	at := make(map[int]int, len(cells)+1) // from offset in text to the index of the cell that starts there
	for i := range cells {
		at[text.Len()] = i
		text.WriteString(cells[i].Body.Of(p.Raw))
	}
	at[text.Len()] = len(cells)
	for _, c := range CommentsIn(text.String()) {
		first, starts := at[c.Start]
		last, ends := at[c.End]
		if !starts || !ends || cells[first].literal && !p.Known.Has(cells[first].Body.Start) {
			continue
		}
		found++
		for i := first; i < last; i++ {
			cells[i].Comment = int32(found)
		}
	}
	return found
}

// partsComment reports whether deletions i and i+1 are separate only because one of them is part of a comment, and the
// other one precedes the comment or is on the same line.
func (d *Document) partsComment(i int) bool {
	a, b := &d.Cells[i], &d.Cells[i+1]
	return b.Comment > 0 || a.Comment > 0 && !span.StartsWithBreak(b.Body.Of(d.Raw))
}

// CommentsIn finds the open comments in a text, including literal comments.
func CommentsIn(text string) []Cell {
	reader := parser{Document: &Document{Raw: text}}
	find := span.Finder{Text: text}
	var out []Cell
	for i := 0; ; {
		brace := strings.IndexByte(text[i:], '{')
		if brace < 0 {
			return out
		}
		i += brace
		c, ok := reader.mark(&find, i)
		if !ok || c.Kind != Comment || c.Resolved {
			i++
			continue
		}
		out = append(out, c)
		i = c.End
	}
}
