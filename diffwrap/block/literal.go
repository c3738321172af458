package block

import (
	"iter"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Leaf is a block that is no list, quote or footnote. Its lines after the first one begin with the prefixes of the
// quotes and items around it.
type Leaf struct {
	Block
	Item   span.Span // the list item that begins with the leaf, or zero
	Before span.Span // the block before the leaf in the same item or quote, or in the text; or zero
	// TooDeep is set for a list, quote or footnote below MaxDepth, whose content is not looked into.
	TooDeep bool
}

// Leaves iterates over the leaves of a text in order. It looks into containers up to MaxDepth levels; a container below
// that is a Paragraph. Formulas and comments are prose.
func Leaves(text string) iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		work := maxLookedInto
		s := scanner{text: text, work: &work, prose: true}
		s.leaves(span.Span{}, yield)
	}
}

// Literals returns the ranges of a text where markup has no meaning: blocks of code, formulas and comments, and the
// comment or element with raw text at the start of an HTML block. blocks are Scan's result for the text. Literals looks
// into lists, quotes and footnotes as Leaves does.
func Literals(text string, blocks []Block) (out []span.Span) {
	work := maxLookedInto
	s := scanner{text: text, work: &work}
	for _, b := range blocks {
		s.leavesIn(b, Leaf{Block: b}, func(b Leaf) bool {
			switch b.Kind {
			case Code, Math, Comment:
				out = append(out, b.Span)
			case HTML:
				if n := rawText(b.Of(text)); n > 0 {
					out = append(out, span.New(b.Start, b.Start+n))
				}
			}
			return true
		})
	}
	return out
}

// MaxDepth is the maximum nesting depth of leaves.
const MaxDepth = 50

// leaves yields the leaves of s, which has the content of item, if that is not zero, until yield returns false.
func (s *scanner) leaves(item span.Span, yield func(Leaf) bool) bool {
	l := Leaf{Item: item}
	for b, next := s.next(0); !b.Empty(); b, next = s.next(next) {
		l.Block = Block{span.New(s.whole(b.Start), s.whole(b.End)), b.Kind}
		if !s.leavesIn(b, l, yield) {
			return false
		}
		l = Leaf{Before: l.Span}
	}
	return true
}

// leavesIn yields l, which is the block b, or the leaves in it if b is a container.
func (s *scanner) leavesIn(b Block, l Leaf, yield func(Leaf) bool) bool {
	containers := s.containers(b)
	if containers == nil {
		return yield(l)
	}
	if s.depth == MaxDepth {
		l.Kind, l.TooDeep = Paragraph, true
		return yield(l)
	}
	for _, x := range containers {
		var item span.Span
		if b.Kind == List {
			item = span.New(s.whole(x.Start), s.whole(len(strings.TrimRight(s.text[:x.End], " \t\r\n"))))
		}
		if !s.inside(x).leaves(item, yield) {
			return false
		}
	}
	return true
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
