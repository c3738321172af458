package block

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Literals returns the ranges of a text where markup has no meaning: blocks of code, formulas and comments, and the
// comment or element with raw text at the start of an HTML block. blocks are Scan's result for the text. Literals looks
// into lists, quotes and footnotes, up to maxDepth levels.
func Literals(text string, blocks []Block) []span.Span {
	work := maxLookedInto
	s := scanner{text: text, work: &work}
	return s.literals(nil, blocks, func(off int) int { return off })
}

// literals appends the literal ranges in the given blocks of s. outer maps offsets in s to offsets in the text of
// Literals.
func (s *scanner) literals(out []span.Span, blocks []Block, outer func(int) int) []span.Span {
	for _, b := range blocks {
		switch b.Kind {
		case Code, Math, Comment:
			out = append(out, span.New(outer(b.Start), outer(b.End)))
		case HTML:
			if n := rawText(b.Of(s.text)); n > 0 {
				out = append(out, span.New(outer(b.Start), outer(b.Start+n)))
			}
		case Quote, Callout:
			out = s.literalsIn(out, b.Span, unquoteLine, outer)
		case List:
			for _, item := range s.items(b.Span) {
				out = s.literalsIn(out, item.Span, dedentLine(item.column), outer)
			}
		case Footnote:
			out = s.literalsIn(out, b.Span, dedentLine(codeIndent), outer)
		}
	}
	return out
}

// literalsIn scans a container. strip removes the container's prefix from a line.
func (s *scanner) literalsIn(out []span.Span, container span.Span, strip func(string) string, outer func(int) int) []span.Span {
	if s.depth == maxDepth {
		return out
	}
	var text strings.Builder
	var lines, froms []int // offsets of each line in the content and in s
	for at := container.Start; at < container.End; {
		end := min(container.End, span.LineEnd(s.text, at))
		line := s.text[at:end]
		content := strip(line)
		lines, froms = append(lines, text.Len()), append(froms, end-len(content))
		text.WriteString(content)
		at = end
	}
	in := scanner{text: text.String(), depth: s.depth + 1, work: s.work}
	return in.literals(out, in.blocks(), func(off int) int {
		i, found := slices.BinarySearch(lines, off)
		if !found {
			i--
		}
		return outer(froms[i] + off - lines[i])
	})
}

// item is a list item. column is the column at which its content starts.
type item struct {
	span.Span
	column int
}

func (s *scanner) items(list span.Span) []item {
	var items []item
	for at := list.Start; at < list.End; {
		l := s.line(at)
		if n := len(items); !l.blank() && (n == 0 || l.indent < items[n-1].column) {
			if m, ok := listMarker(l); ok {
				items = append(items, item{span.New(at, at), m.width})
			}
		}
		at = min(l.next, list.End)
		if n := len(items); n > 0 {
			items[n-1].End = at
		}
	}
	return items
}

// rawText returns the length of the comment or raw text element at the start of an HTML block, or 0 if there is none.
func rawText(s string) int {
	closers, ok := html(strings.TrimLeft(s, " \t"), false)
	if !ok || !slices.Contains(closers, "-->") && !slices.Contains(closers, "</script>") {
		return 0
	}
	end, lower := len(s), strings.ToLower(s)
	if len(lower) != len(s) { // ToLower changes the length of some letters
		return end
	}
	for _, c := range closers {
		if at := strings.Index(lower, c); at >= 0 {
			end = min(end, at+len(c))
		}
	}
	return end
}

const byteOrderMark = "\ufeff"

func FrontMatter(text string) (body int, ok bool) {
	body = len(text) - len(strings.TrimPrefix(text, byteOrderMark))
	if !OpensFrontMatter(text[body:]) {
		return body, false
	}
	for i := span.LineEnd(text, body); i < len(text); {
		next := span.LineEnd(text, i)
		if isMatterFence(text[i:next]) {
			return next, true
		}
		i = next
	}
	return body, false
}

// OpensFrontMatter reports whether the first line of a text is --- with optional blanks, and ends with a line break.
func OpensFrontMatter(text string) bool {
	end := span.LineEnd(text, 0)
	return isMatterFence(text[:end]) && strings.HasSuffix(text[:end], "\n")
}

// isMatterFence reports whether a line, with its break, is --- and optional blanks.
func isMatterFence(line string) bool {
	return strings.HasPrefix(line, "---") && strings.TrimRight(line[3:], " \t\r\n") == ""
}
