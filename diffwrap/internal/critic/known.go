package critic

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// This file decides which of the well-formed marks of a text are marks, and which are literal text.

// Known lists the marks of a raw text that are known to be marks, by the offsets at which they open, in order. The zero value lists
// none: the text alone decides.
type Known struct {
	offsets []int
	every   bool
}

// KnownAt returns the marks that open at the given offsets, which are in order.
func KnownAt(offsets []int) Known { return Known{offsets: offsets} }

// Everything counts every well-formed mark, wherever it stands.
var Everything = Known{every: true}

func (k Known) Offsets() []int { return k.offsets }

// Has reports whether a known mark opens at an offset.
func (k Known) Has(at int) bool {
	_, ok := slices.BinarySearch(k.offsets, at)
	return ok || k.every
}

// within reports whether a known mark opens inside of a stretch, behind its start.
func (k Known) within(s span.Span) bool {
	i, _ := slices.BinarySearch(k.offsets, s.Start+1)
	return i < len(k.offsets) && k.offsets[i] < s.End
}

// Same reports whether two lists are equal.
func (k Known) Same(other Known) bool {
	return k.every == other.every && slices.Equal(k.offsets, other.offsets)
}

// Through returns the known marks of the text that a script makes of raw: those of whose openers it takes nothing. The opener of
// a comment that is deleted is cut in two, and it is a comment all the same.
func (k Known) Through(raw string, edits []span.Edit) Known {
	if len(edits) == 0 || k.every {
		return k
	}
	var out []int
	at, by := 0, 0 // in raw, and how far its text has moved
	next := k.offsets
	keep := func(to int, rest []span.Edit) {
		for ; len(next) > 0 && next[0] < to; next = next[1:] {
			if next[0] >= at && !deletes(rest, span.New(next[0], next[0]+DelimiterLen)) {
				out = append(out, next[0]+by)
			}
		}
	}
	for k, e := range edits {
		keep(e.Off, edits[k:])
		by += len(e.New) - e.Len
		at = e.Off + e.Len
	}
	keep(len(raw), nil)
	return Known{offsets: out}
}

// And returns the known marks and those that open at other offsets.
func (k Known) And(offsets ...int) Known {
	if len(offsets) == 0 || k.every {
		return k
	}
	all := slices.Sorted(slices.Values(slices.Concat(k.offsets, offsets)))
	return Known{offsets: slices.Compact(all)}
}

// Without returns the known marks that are not among others.
func (k Known) Without(others Known) Known {
	return Known{offsets: slices.DeleteFunc(slices.Clone(k.offsets), others.Has)}
}

// deletes reports whether edits take something of a stretch.
func deletes(edits []span.Edit, s span.Span) bool {
	for _, e := range edits {
		if e.Off >= s.End {
			return false
		}
		if e.Len > 0 && e.Off+e.Len > s.Start {
			return true
		}
	}
	return false
}

// Shift moves the marks with their text.
func (k Known) Shift(by int) Known {
	out := slices.Clone(k.offsets)
	for i := range out {
		out[i] += by
	}
	return Known{out, k.every}
}

// From returns the marks that open at or behind an offset.
func (k Known) From(at int) Known {
	i, _ := slices.BinarySearch(k.offsets, at)
	return Known{k.offsets[i:], k.every}
}

// Before returns the marks that open before an offset.
func (k Known) Before(at int) Known {
	i, _ := slices.BinarySearch(k.offsets, at)
	return Known{k.offsets[:i], k.every}
}

// cutComment is the opener of a comment that a deletion has cut, up to the cut.
const cutComment = "{>--}"

// Openers lists the offsets at which a mark may open, wherever it stands, or a comment that is deleted.
func Openers(raw string) (offsets []int) {
	for i := 0; ; i++ {
		brace := strings.IndexByte(raw[i:], '{')
		if brace < 0 {
			return offsets
		}
		if i += brace; opensMark(raw[i:]) || strings.HasPrefix(raw[i:], cutComment) {
			offsets = append(offsets, i)
		}
	}
}

// IsCertain reports whether it makes no difference to the marks of a text which of them are known: all of them count, and none of them
// has anything in it that makes other text literal.
func IsCertain(raw string) bool {
	d := Parse(raw, Known{})
	if len(d.Literal) > 0 {
		return false
	}
	for i := range d.Cells {
		c := &d.Cells[i]
		if body := c.Body.Of(raw); c.Kind != Text && (strings.ContainsAny(body, "`~$%<{\t") || strings.Contains(body, "    ") || strings.Contains(body, "---")) {
			return false
		}
	}
	return true
}

// DelimiterLen is the length of a delimiter.
const DelimiterLen = len("{++")

// opensMark reports whether s starts with an opener in one of the forms, or with a comment of Relay's.
func opensMark(s string) bool {
	if s[0] != '{' {
		return false
	}
	if _, ok := formOf(s); ok {
		return true
	}
	_, n := readAttributes(s, "{{", ">>")
	return n > 0
}

// counts reports whether a well-formed mark is one. Openers must be asked for from left to right. It is if it is known, or unless
//
//   - it has no body, or reads {++} and the like, in which opener and closer share their signs,
//   - it stands in a literal stretch (markdown.Zones),
//   - a known mark opens in it,
//   - it is a suggestion that opens inside of one block and closes inside of another. Comments may have paragraphs; and whether a
//     highlight is one does not depend on the lines that suggestions bring into it, or take out.
//
// What is literal is seen in the text as it is without the known marks: they may have cut a fence, or made one.
func (p *parser) counts(c *Cell) bool {
	switch {
	case p.Known.Has(c.Start):
		if c.Kind == Deletion && !p.Known.every && !p.knownOnly && p.mayTakeComment(c) {
			z := p.zones()
			c.literal = z.In(z.offset(c.Start))
		}
		return true
	case p.knownOnly:
		return false
	case p.isEmpty(c):
		p.Literal = append(p.Literal, c.Start)
		return false
	}
	z := p.zones()
	at, end := z.offset(c.Start), z.offset(c.End)
	inside := z.In(at)
	if !inside && c.Kind != HighlightOpen && p.Known.within(c.Span) {
		return false
	}
	if inside || c.IsSuggestion() && z.Parted(at, end, span.New(z.offset(c.Body.Start), z.offset(c.Body.End))) {
		p.Literal = append(p.Literal, c.Start)
		return false
	}
	if c.Kind != HighlightOpen { // in which marks may stand
		z.Skip(end)
	}
	return true
}

func (p *parser) zones() *literals {
	if p.literals == nil {
		p.literals = findLiterals(p.Raw, p.Known)
	}
	return p.literals
}

// isEmpty reports whether a mark has no body, or its opener and its closer would share their signs.
func (p *parser) isEmpty(c *Cell) bool {
	switch c.Kind {
	case Comment:
		return c.Body.Empty()
	case Hidden:
		return false
	case Substitution:
		return c.Added.Empty() && c.Deleted.Empty() || p.Raw[c.Start+DelimiterLen] == '}'
	}
	return c.Body.Empty() || p.Raw[c.Start+DelimiterLen] == '}'
}

// literals knows where a raw text is literal, by what it is without the known marks.
type literals struct {
	*markdown.Zones
	all  bool      // no mark is known
	kept []Segment // else what is left of the raw text
}

func findLiterals(raw string, known Known) *literals {
	if len(known.offsets) == 0 {
		return &literals{Zones: markdown.NewZones(raw), all: true}
	}
	p := parser{Document: &Document{Raw: raw, Unclosed: -1, Known: known}, knownOnly: true}
	p.scan(0, len(raw), -1)
	var text strings.Builder
	var kept []Segment
	for i := range p.Cells {
		if s := p.Cells[i].visible(OriginalView); !s.Empty() {
			kept = append(kept, Segment{RawOff: s.Start, ViewOff: text.Len(), Len: s.Len()})
			text.WriteString(s.Of(raw))
		}
	}
	return &literals{Zones: markdown.NewZones(text.String()), kept: kept}
}

// offset returns where an offset of the raw text is in the text without the known marks.
func (l *literals) offset(raw int) int {
	if l.all {
		return raw
	}
	i, _ := slices.BinarySearchFunc(l.kept, raw, func(s Segment, raw int) int { return s.RawOff - raw })
	switch {
	case i < len(l.kept) && l.kept[i].RawOff == raw:
		return l.kept[i].ViewOff
	case i == 0:
		return 0
	}
	s := l.kept[i-1]
	return s.ViewOff + min(s.Len, raw-s.RawOff)
}
