package diffwrap

import (
	"fmt"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Highlights and comments are furniture: they are in neither text. A highlight is never changed; marks go inside. An open
// comment of somebody else's is deleted like text, by marks around it that are cut at its edges and in its opener, so that
// it comes back with them. The writer's own comment is written and taken back as such.

// startsComment reports whether the text of a deletion may be the start of a comment.
func startsComment(body string) bool {
	return strings.HasPrefix(body, "{>") || strings.HasPrefix(body, "{{")
}

// findDeletedComments numbers the deletions that together delete a whole comment.
func (p *parser) findDeletedComments() {
	found := 0
	for i := 0; i < len(p.cells); {
		n := 0
		for p.isMark(i+n, deletionCell) {
			n++
		}
		if n > 0 {
			found = p.numberComments(p.cells[i:i+n], found)
		}
		i += n + 1
	}
}

// numberComments does that for deletions that touch, from number found+1 on.
func (p *parser) numberComments(cells []cell, found int) int {
	var text strings.Builder
	at := make(map[int]int, len(cells)+1) // offset in text -> cell that starts there
	for i := range cells {
		at[text.Len()] = i
		text.WriteString(cells[i].body.Of(p.raw))
	}
	at[text.Len()] = len(cells)
	for _, c := range commentsOf(text.String(), p.matter) {
		first, starts := at[c.Start]
		last, ends := at[c.End]
		if !starts || !ends {
			continue
		}
		found++
		for i := first; i < last; i++ {
			cells[i].comment = found
		}
	}
	return found
}

// partsComment reports whether cells i and i+1 are apart only because one of them is of a comment, and the other before
// it or on its line.
func (d *document) partsComment(i int) bool {
	a, b := &d.cells[i], &d.cells[i+1]
	return b.comment > 0 || a.comment > 0 && !linebreak.Leads(b.body.Of(d.raw))
}

// commentsOf finds the open comments in a text, wherever they stand.
func commentsOf(text string, matter *endMatter) []cell {
	if matter == nil {
		matter = &endMatter{}
	}
	reader := parser{document: &document{raw: text, matter: matter}}
	find := finder{text: text}
	var out []cell
	for i := 0; ; {
		brace := strings.IndexByte(text[i:], '{')
		if brace < 0 {
			return out
		}
		i += brace
		c, ok := reader.mark(&find, i)
		if !ok || c.kind != commentCell || c.resolved {
			i++
			continue
		}
		out = append(out, c)
		i = c.End
	}
}

// Comments lists the open comments of raw that are attached to no suggestion, in order.
func Comments(raw string) []Suggestion {
	doc := parse(raw)
	var out []Suggestion
	lines := lineCounter{doc: doc, line: 1}
	for i := 0; i < len(doc.cells); i++ {
		if g, ok := doc.groupAt(i); ok {
			i = g.lastComment
		} else if c := &doc.cells[i]; c.kind == commentCell && !c.resolved {
			out = append(out, Suggestion{Kind: Comment, Start: c.Start, End: c.End, Line: lines.at(i),
				New: c.body.Of(raw), Author: c.author, Time: c.time})
		}
	}
	return out
}

// checkSigned refuses what the writer must not write: a comment of several lines, and what is signed by somebody else.
// What the note has already may stand elsewhere.
func (p *putter) checkSigned() error {
	body := p.new[p.matter.newEnd:]
	known := p.knownComments()
	p.bare = make(map[string]bool)
	for _, c := range commentsOf(body, p.doc.matter) {
		text := c.Of(body)
		if known[text]--; known[text] >= 0 {
			continue
		}
		if err := p.checkComment(&c, text, linebreak.LineOf(p.new, p.matter.newEnd+c.Start)); err != nil {
			return err
		}
		p.bare[text] = true
	}
	for i := range p.doc.cells {
		if c := &p.doc.cells[i]; c.kind == commentCell && !c.resolved && p.own(c) {
			p.bare[c.Of(p.doc.raw)] = true
		}
	}
	return p.checkNames(body)
}

// knownComments counts the comments that the note shows, and those whose deletion is pending.
func (p *putter) knownComments() map[string]int {
	known := make(map[string]int)
	for _, c := range commentsOf(p.old, p.doc.matter) {
		known[c.Of(p.old)]++
	}
	deleted := make(map[int]string)
	for i := range p.doc.cells {
		if c := &p.doc.cells[i]; c.comment > 0 {
			deleted[c.comment] += c.body.Of(p.doc.raw)
		}
	}
	for _, text := range deleted {
		known[text]++
	}
	return known
}

func (p *putter) checkComment(c *cell, text string, line int) error {
	switch {
	case strings.ContainsAny(text, "\r\n"):
		return &RefusedError{Line: line, Literal: text, Err: ErrComment,
			advice: "write the comment on one line, or write the text into the note, where it becomes a suggestion"}
	case !p.signs(c.author), c.id != "", strings.Contains(text[:c.body.Start-c.Start], "authorId="):
		return &RefusedError{Line: line, Literal: text, Err: fmt.Errorf("%w: %q", ErrSigned, c.author),
			advice: "write the comment without a name"}
	}
	return nil
}

// checkNames refuses marks in new text that bear another's name: they would be that person's once the text is accepted.
func (p *putter) checkNames(body string) error {
	names := signedMarks(body)
	if len(names) == 0 {
		return nil
	}
	known := make(map[string]int)
	for _, views := range []string{p.old, p.doc.raw} {
		count := make(map[string]int)
		for _, c := range signedMarks(views) {
			count[c.Of(views)]++
		}
		for text, n := range count {
			known[text] = max(known[text], n)
		}
	}
	for _, c := range names {
		text := c.Of(body)
		if known[text]--; known[text] < 0 && !p.signs(c.author) {
			return &RefusedError{Line: linebreak.LineOf(p.new, p.matter.newEnd+c.Start), Literal: text, Err: fmt.Errorf("%w: %q", ErrSigned, c.author),
				advice: "leave the name out"}
		}
	}
	return nil
}

// signedMarks finds what reads as a mark with a name, wherever it stands.
func signedMarks(text string) []cell {
	if !strings.Contains(text, "{\"") && !strings.Contains(text, "=\"") && !strings.Contains(text, "{#") {
		return nil
	}
	reader := parser{document: &document{raw: text}}
	find := finder{text: text}
	var out []cell
	for i := 0; ; i++ {
		brace := strings.IndexByte(text[i:], '{')
		if brace < 0 {
			return out
		}
		i += brace
		c, ok := reader.mark(&find, i)
		if !ok {
			m, n := reader.tail(text[i:])
			c = cell{Span: span.New(i, i+n), attribution: m.attribution}
		}
		if c.author != "" {
			out = append(out, c)
		}
	}
}
