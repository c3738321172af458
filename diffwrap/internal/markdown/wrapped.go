package markdown

import (
	"iter"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Wrapped returns the atoms in prose that span a line break.
func Wrapped(text string) (out []span.Span) {
	if !mayOpen(text) {
		return nil
	}
	for p := (span.Span{}); p.Start < len(text); p.Start = p.End {
		first := span.LineEnd(text, p.Start)
		for p.End = first; continues(text[p.End:]); {
			p.End = span.LineEnd(text, p.End)
		}
		if p.End == first {
			continue
		}
		for t := range paragraphTokens(text, p) {
			if t.wraps(text) {
				out = append(out, t.Span)
			}
		}
	}
	return out
}

// openers are the characters that can start atoms that contain line breaks. URLs are not among these atoms.
var openers = func() (s string) {
	for _, c := range Constructs {
		if c.class == Atom {
			s += c.first
		}
	}
	return s
}()

// mayOpen reports whether a text may contain an atom. It uses IndexByte, because that is faster than ContainsAny on
// long texts.
func mayOpen(text string) bool {
	for k := range len(openers) {
		if strings.IndexByte(text, openers[k]) >= 0 {
			return true
		}
	}
	return false
}

// paragraphTokens tokenizes the lines of a paragraph as one line.
func paragraphTokens(text string, p span.Span) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for t := range Tokens(oneLine(p.Of(text)), span.New(0, p.Len()), nil) {
			if t.Span = t.Shift(p.Start); !yield(t) {
				return
			}
		}
	}
}

// wraps reports whether a token is an atom that spans a line break.
func (t Token) wraps(text string) bool {
	return t.Class == Atom && strings.IndexByte(t.Of(text), '\n') >= 0
}

// oneLine returns a paragraph of the same length with blanks instead of line breaks and indentation, so that the same
// atoms are found as on one line.
func oneLine(paragraph string) string {
	var b strings.Builder
	b.Grow(len(paragraph))
	for line := range strings.Lines(paragraph) {
		indent := indentation(line)
		text := strings.TrimRight(line[indent:], "\r\n")
		b.WriteString(strings.Repeat(" ", indent))
		b.WriteString(text)
		b.WriteString(strings.Repeat(" ", len(line)-indent-len(text)))
	}
	return b.String()
}

// continues reports whether the first line of a text can continue the paragraph of the line before it.
func continues(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	return !IsBlank(line) && Marker(line) == indentation(line) && !block.IsRow(line)
}
