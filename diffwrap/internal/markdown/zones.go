package markdown

import (
	"regexp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Zones finds the ranges in which a text is literal: front matter, code, formulas, HTML tags and comments, %% comments
// and templates. It reads the text once, from left to right. The construct that opens first counts; an unclosed inline
// construct does not count.
type Zones struct {
	text     string
	blocks   []block.Block // blocks of the whole text
	literals []span.Span   // literal blocks from pos on
	pos      int           // end of the text that has been read
	end      int           // end of the paragraph at pos, which ends inline constructs
	closers  map[int]int   // for code spans of the paragraph: from the opening backticks to the end of the span
	find     span.Finder
}

func NewZones(text string) *Zones {
	body, has := block.FrontMatter(text)
	z := &Zones{text: text, find: span.Finder{Text: text}}
	if has {
		z.literals = append(z.literals, span.New(0, body))
	}
	z.blocks = block.Scan(text[body:])
	for _, s := range block.Literals(text[body:], z.blocks) {
		z.literals = append(z.literals, s.Shift(body))
	}
	for i := range z.blocks {
		z.blocks[i].Span = z.blocks[i].Shift(body)
	}
	return z
}

// In reports whether an offset is strictly inside a literal range. Offsets must not decrease between calls.
func (z *Zones) In(at int) bool {
	for z.pos < min(at, len(z.text)) {
		z.step(at)
	}
	return z.pos > at
}

// Skip continues at an offset. The text before that offset has no effect.
func (z *Zones) Skip(to int) { z.pos = max(z.pos, to) }

// step reads one literal range at pos, or plain text up to limit.
func (z *Zones) step(limit int) {
	for len(z.literals) > 0 && z.literals[0].End <= z.pos {
		z.literals = z.literals[1:]
	}
	next := len(z.text)
	if len(z.literals) > 0 {
		if next = z.literals[0].Start; next <= z.pos {
			z.pos = z.literals[0].End
			return
		}
	}
	if z.pos >= z.end {
		z.readParagraph(next)
	}
	limit = min(limit, z.end)
	at := strings.IndexAny(z.text[z.pos:limit], "\\`$%<{")
	if at < 0 {
		z.pos = limit
		return
	}
	z.pos += at
	z.pos = z.inline(z.pos)
}

// readParagraph finds the end of the paragraph at pos, at most limit.
func (z *Zones) readParagraph(limit int) {
	z.end = span.LineEnd(z.text, z.pos)
	for z.end < limit && continues(z.text[z.end:]) {
		z.end = span.LineEnd(z.text, z.end)
	}
	z.end = min(z.end, limit)
	z.closers = nil
	if strings.IndexByte(z.text[z.pos:z.end], '`') >= 0 {
		z.pairBackticks()
	}
}

// pairBackticks finds the next run of the same length for each run of backticks in the paragraph.
func (z *Zones) pairBackticks() {
	z.closers = make(map[int]int)
	last := make(map[int]int) // start of the last run, by run length
	for i := z.pos; i < z.end; {
		at := strings.IndexByte(z.text[i:z.end], '`')
		if at < 0 {
			return
		}
		i += at
		end := span.Skip(z.text[:z.end], i, "`")
		if before, ok := last[end-i]; ok {
			z.closers[before] = end
		}
		last[end-i] = i
		i = end
	}
}

// inline returns the end of the construct at an offset. If no construct opens there, it returns the end of the
// characters that open no construct.
func (z *Zones) inline(i int) int {
	text := z.text[:z.end]
	rest := text[i:]
	switch rest[0] {
	case '\\':
		if len(rest) > 1 && rest[1] != '{' {
			return i + 2
		}
	case '`':
		if end, ok := z.closers[i]; ok {
			return end
		}
		return span.Skip(text, i, "`")
	case '$':
		return z.formula(i)
	case '%':
		return z.enclosed(i, "%%", "%%", z.end)
	case '<':
		switch {
		case strings.HasPrefix(rest, "<%"):
			return z.enclosed(i, "<%", "%>", len(z.text)) // a template may have blank lines
		case strings.HasPrefix(rest, "<!--"):
			return z.enclosed(i, "<!--", "-->", z.end)
		}
		return i + max(1, len(tagPattern.FindString(rest)))
	case '{':
		return z.enclosed(i, "{{", "}}", z.end)
	}
	return i + 1
}

// enclosed returns the end of the construct at i, which is open and close with text between them. If there is no
// construct that ends at limit or before, it returns the end of the character at i.
func (z *Zones) enclosed(i int, open, close string, limit int) int {
	if !strings.HasPrefix(z.text[i:z.end], open) {
		return i + 1
	}
	from := i + len(open)
	if end := z.find.Next(close, from); end > from && end+len(close) <= limit {
		return end + len(close)
	}
	return i + 1
}

// formula returns the end of the formula at an offset. Single dollars must have no blank directly inside them, and no
// digit after the closing one.
func (z *Zones) formula(i int) int {
	text := z.text[:z.end]
	if strings.HasPrefix(text[i:], "$$") {
		if end := z.enclosed(i, "$$", "$$", z.end); end > i+2 {
			return end
		}
		return span.Skip(text, i, "$")
	}
	end := i + 1
	for end < len(text) && text[end] != '$' {
		if text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(text) || isBlank(text[i+1]) || isBlank(text[end-1]) || end+1 < len(text) && isDigit(text[end+1]) {
		return i + 1
	}
	return end + 1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// tagPattern matches an HTML tag roughly as CommonMark defines it. Attributes may have names with @, as in Vue.
var tagPattern = regexp.MustCompile(`^<(?:[A-Za-z][A-Za-z0-9-]*(?:\s+[A-Za-z0-9_:.@-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>` + "`" + `]+))?)*\s*/?|/[A-Za-z][A-Za-z0-9-]*\s*)>`)

// Parted reports whether the construct text[open:end] opens inside one block and closes inside another block. body is
// the content between the delimiters of the construct. An offset at the border of a block is not inside it.
func (z *Zones) Parted(open, end int, body span.Span) bool {
	first, ok := z.blockAt(open)
	last, closed := z.blockAt(end - 1)
	if !ok || !closed || first == last {
		return false
	}
	blank := func(from, to int) bool { return strings.Trim(z.text[from:max(from, to)], " \t\r\n\ufeff") == "" }
	return !blank(first.Start, open) && !blank(body.Start, first.End) && !blank(last.Start, body.End) && !blank(end, last.End)
}

func (z *Zones) blockAt(at int) (block.Block, bool) {
	i, found := slices.BinarySearchFunc(z.blocks, at, func(b block.Block, at int) int { return b.Start - at })
	if !found {
		i--
	}
	if i < 0 || z.blocks[i].End <= at {
		return block.Block{}, false
	}
	return z.blocks[i], true
}
