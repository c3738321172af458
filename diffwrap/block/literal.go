package block

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Leaves returns the blocks of a text that are no lists, quotes or footnotes, and the blocks in these, up to maxDepth
// levels; a container below that is a Paragraph. blocks are Scan's result for the text. Of an HTML block, only the
// comment or the element with raw text at its start is HTML; the remaining lines are a Paragraph. In a container, the
// lines of a leaf after its first line begin with the prefixes of the container.
func Leaves(text string, blocks []Block) []Block {
	work := maxLookedInto
	s := scanner{text: text, work: &work}
	return s.leaves(nil, blocks, func(off int) int { return off })
}

// Literals returns the ranges of a text where markup has no meaning: the leaves that are code, formulas, comments or
// HTML. blocks are Scan's result for the text.
func Literals(text string, blocks []Block) (out []span.Span) {
	for _, b := range Leaves(text, blocks) {
		switch b.Kind {
		case Code, Math, Comment, HTML:
			out = append(out, b.Span)
		}
	}
	return out
}

// leaves appends the leaves in the given blocks of s. outer maps offsets in s to offsets in the text of Leaves.
func (s *scanner) leaves(out, blocks []Block, outer func(int) int) []Block {
	for _, b := range blocks {
		switch b.Kind {
		case HTML:
			n := rawText(b.Of(s.text))
			if n > 0 {
				out = append(out, Block{span.New(outer(b.Start), outer(b.Start+n)), HTML})
			}
			if b.Start += n; b.Start < b.End {
				out = append(out, Block{span.New(outer(b.Start), outer(b.End)), Paragraph})
			}
		case Quote, Callout:
			out = s.leavesIn(out, b.Span, unquoteLine, outer)
		case List:
			for _, item := range s.items(b.Span) {
				out = s.leavesIn(out, item.Span, dedentLine(item.column), outer)
			}
		case Footnote:
			out = s.leavesIn(out, b.Span, dedentLine(codeIndent), outer)
		default:
			out = append(out, Block{span.New(outer(b.Start), outer(b.End)), b.Kind})
		}
	}
	return out
}

// leavesIn scans a container. strip removes the container's prefix from a line.
func (s *scanner) leavesIn(out []Block, container span.Span, strip func(string) string, outer func(int) int) []Block {
	if s.depth == maxDepth {
		return append(out, Block{span.New(outer(container.Start), outer(container.End)), Paragraph})
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
	return in.leaves(out, in.blocks(), func(off int) int {
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
