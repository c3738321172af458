package critic

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// findDeletedComments numbers the deletions that together delete a whole comment.
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

// numberComments does that for deletions that touch, from number found+1 on.
func (p *parser) numberComments(cells []Cell, found int) int {
	var text strings.Builder
	at := make(map[int]int, len(cells)+1) // offset in text -> cell that starts there
	for i := range cells {
		at[text.Len()] = i
		text.WriteString(cells[i].Body.Of(p.Raw))
	}
	at[text.Len()] = len(cells)
	for _, c := range p.CommentsIn(text.String()) {
		first, starts := at[c.Start]
		last, ends := at[c.End]
		if !starts || !ends {
			continue
		}
		found++
		for i := first; i < last; i++ {
			cells[i].Comment = found
		}
	}
	return found
}

// partsComment reports whether cells i and i+1 are apart only because one of them is of a comment, and the other before
// it or on its line.
func (d *Document) partsComment(i int) bool {
	a, b := &d.Cells[i], &d.Cells[i+1]
	return b.Comment > 0 || a.Comment > 0 && !linebreak.Leads(b.Body.Of(d.Raw))
}

// CommentsIn finds the open comments in another text that stands in this document, wherever they are there.
func (d *Document) CommentsIn(text string) []Cell {
	matter := d.matter
	if matter == nil {
		matter = &endMatter{}
	}
	var out []Cell
	reader := parser{Document: &Document{Raw: text, matter: matter}}
	reader.braces(0, len(text), func(at int, c Cell, ok bool) int {
		if !ok || c.Kind != Comment || c.Resolved {
			return at + 1
		}
		out = append(out, c)
		return c.End
	})
	return out
}

// SignedMarks finds what reads as a mark with a name, wherever it stands.
func SignedMarks(text string) []Cell {
	if !strings.Contains(text, "{\"") && !strings.Contains(text, "=\"") && !strings.Contains(text, "{#") {
		return nil
	}
	var out []Cell
	reader := parser{Document: &Document{Raw: text}}
	reader.braces(0, len(text), func(at int, c Cell, ok bool) int {
		if !ok {
			m, n := reader.tail(text[at:])
			c = Cell{Span: span.New(at, at+n), Attribution: m.Attribution}
		}
		if c.Author != "" {
			out = append(out, c)
		}
		return at + 1
	})
	return out
}
