package critic

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// This file decides which well-formed marks count as marks, and which are literal text.

// Known lists the start offsets, in order, of the known marks: the caller has recorded that they are marks. With the
// zero value, Parse finds marks from the text alone.
type Known struct {
	offsets []int
	literal []int // offsets of openers that the caller has recorded as literal text
	every   bool
}

// KnownAt returns the marks that open at the given offsets. The offsets must be in order.
func KnownAt(offsets []int) Known { return Known{offsets: offsets} }

// Everything treats every well-formed mark as known, at any position.
var Everything = Known{every: true}

func (k Known) Offsets() []int { return k.offsets }

func (k Known) Literal() []int { return k.literal }

func (k Known) Has(at int) bool {
	_, ok := slices.BinarySearch(k.offsets, at)
	return ok || k.every
}

func (k Known) IsLiteral(at int) bool {
	_, ok := slices.BinarySearch(k.literal, at)
	return ok
}

// within reports whether a known mark opens inside a range, but not at its start.
func (k Known) within(s span.Span) bool {
	i, _ := slices.BinarySearch(k.offsets, s.Start+1)
	return i < len(k.offsets) && k.offsets[i] < s.End
}

func (k Known) Same(other Known) bool {
	return k.every == other.every && slices.Equal(k.offsets, other.offsets) && slices.Equal(k.literal, other.literal)
}

// AfterEdits returns the known marks of the text that a script makes from raw: the marks whose openers the script
// keeps. A script may cut the opener of a comment in two, or join it again; see OpenerAt.
func (k Known) AfterEdits(raw string, edits []span.Edit) Known {
	if len(edits) == 0 || k.every {
		return k
	}
	return Known{offsets: kept(k.offsets, raw, edits), literal: kept(k.literal, raw, edits)}
}

// kept returns the new offsets of the openers that a script keeps.
func kept(next []int, raw string, edits []span.Edit) (out []int) {
	out = slices.Grow(out, len(next))
	at, by := 0, 0 // offset in raw, and the shift of the text there
	keep := func(to int, rest []span.Edit) {
		for ; len(next) > 0 && next[0] < to; next = next[1:] {
			if first, second := OpenerAt(raw, next[0]); next[0] >= at && !deletes(rest, first) && !deletes(rest, second) {
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
	return out
}

// And returns the known marks together with the marks that open at the given offsets.
func (k Known) And(offsets ...int) Known {
	if len(offsets) == 0 || k.every {
		return k
	}
	k.offsets = union(k.offsets, offsets)
	return k
}

// Without returns the known marks without those that open at the given offsets.
func (k Known) Without(offsets ...int) Known {
	k.offsets = KnownAt(offsets).Missing(k)
	return k
}

// Except returns the known marks, with the openers at the given offsets as literal text.
func (k Known) Except(offsets ...int) Known {
	k.literal = union(k.literal, offsets)
	return k
}

// union sorts only if b has something that a lacks, which is rare: a plan keeps the marks that it knows.
func union(a, b []int) []int {
	if b = KnownAt(a).Missing(KnownAt(b)); len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Missing returns the offsets of the marks in others that k does not have.
func (k Known) Missing(others Known) (missing []int) {
	have := k.offsets
	for _, at := range others.offsets {
		for len(have) > 0 && have[0] < at {
			have = have[1:]
		}
		if !k.every && (len(have) == 0 || have[0] > at) {
			missing = append(missing, at)
		}
	}
	return missing
}

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

func (k Known) Shift(by int) Known {
	shift := func(list []int) []int {
		list = slices.Clone(list)
		for i := range list {
			list[i] += by
		}
		return list
	}
	return Known{shift(k.offsets), shift(k.literal), k.every}
}

// From returns the marks that open at or after an offset.
func (k Known) From(at int) Known {
	_, offsets := cutAt(k.offsets, at)
	_, literal := cutAt(k.literal, at)
	return Known{offsets, literal, k.every}
}

func (k Known) Before(at int) Known {
	offsets, _ := cutAt(k.offsets, at)
	literal, _ := cutAt(k.literal, at)
	return Known{offsets, literal, k.every}
}

// With returns the known marks of a text whose part at s was replaced by a text of the given size with the marks part.
func (k Known) With(s span.Span, size int, part Known) Known {
	before, part, after := k.Before(s.Start), part.Shift(s.Start), k.From(s.End).Shift(size-s.Len())
	return Known{slices.Concat(before.offsets, part.offsets, after.offsets), slices.Concat(before.literal, part.literal, after.literal), k.every}
}

// IsApart reports whether each opener in the text is a known mark of its own: not in another mark or a highlight, and not
// text.
func (d *Document) IsApart() bool {
	for i := range d.Cells {
		if c := &d.Cells[i]; c.Comment > 0 || c.Kind == HighlightOpen {
			return false
		}
	}
	openers := Openers(d.Raw)
	return d.Unclosed < 0 && len(d.Known.literal) == 0 && slices.Equal(openers, d.Known.offsets) && slices.Equal(openers, d.Counted().offsets)
}

// Breaks returns the number of line breaks in the accepted view of raw. No mark may be in another one.
func (k Known) Breaks(raw string) int {
	reader, find := parser{Document: &Document{Raw: raw}}, span.Finder{Text: raw}
	breaks := strings.Count(raw, "\n")
	for i, at := range k.offsets {
		if rest := k.offsets[i+1:]; len(rest) > 0 && !strings.Contains(raw[at:rest[0]], "\n") {
			continue
		}
		c, _ := reader.mark(&find, at)
		breaks += strings.Count(c.Added().Of(raw), "\n") - strings.Count(c.Span.Of(raw), "\n")
	}
	return breaks
}

func cutAt(list []int, at int) (before, from []int) {
	i, _ := slices.BinarySearch(list, at)
	return list[:i], list[i:]
}

// cutComment is the first part of a comment's opener after a deletion has cut it.
const cutComment = "{>--}"

// Openers lists the offsets where a mark or a deleted comment may open, at any position.
func Openers(raw string) (offsets []int) {
	offsets = slices.Grow(offsets, strings.Count(raw, "{"))
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

// OpenerAt returns the ranges of the characters of the opener at an offset, in order. second is empty unless a deletion has
// cut the opener of a comment in two: then the delimiters between both ranges belong to the deletion.
func OpenerAt(raw string, at int) (first, second span.Span) {
	rest, cut := strings.CutPrefix(raw[at:], cutComment+"{--")
	if !cut {
		end := min(at+DelimiterLen, len(raw))
		return span.New(at, end), span.New(end, end)
	}
	_, n := readMetadata(rest)
	from := len(raw) - len(rest) + n
	return span.New(at, at+len("{>")), span.New(from, min(from+len(">"), len(raw)))
}

// IsCertain reports whether Parse certainly finds the same marks in a text for every Known: every mark counts, and none
// contains text that could make other text literal.
func IsCertain(raw string) bool {
	d := Parse(raw, Known{})
	if len(d.Literal) > 0 || d.Unclosed >= 0 {
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

const DelimiterLen = len("{++")

func opensMark(s string) bool {
	if s[0] != '{' {
		return false
	}
	if _, ok := formOf(s); ok {
		return true
	}
	_, n := readAttributes(s, ">>")
	return n > 0
}

// counts reports whether a well-formed mark counts as a mark. Calls must be in order of the offsets. A highlight that
// would end inside a known mark does not count. Any other known mark counts. Another mark does not count if
//
//   - the caller has recorded its opener as literal text,
//   - it has no body, or is {++} or similar, where opener and closer share characters,
//   - it is in a literal range (markdown.Zones),
//   - it is not a highlight, and a known mark opens in it,
//   - it is a suggestion that opens inside one block and closes inside another. Comments may have paragraphs, and
//     suggestions that add or delete lines must not decide whether a highlight counts.
//
// Literal ranges are found in the text without the known marks, because known marks may have cut a fence or formed one.
func (p *parser) counts(c *Cell) bool {
	switch {
	case c.Kind == HighlightOpen && p.cutsMark(c):
		return false
	case p.Known.Has(c.Start):
		if c.Kind == Deletion && !p.Known.every && !p.knownOnly && p.mayTakeComment(c) {
			z := p.zones()
			c.literal = z.In(z.offset(c.Start))
		}
		return true
	case p.knownOnly:
		return false
	case p.isEmpty(c) || p.Known.IsLiteral(c.Start):
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
	if c.Kind != HighlightOpen { // a highlight may contain marks
		z.Skip(end)
	}
	return true
}

// cutsMark reports whether a highlight would end inside a known mark.
func (p *parser) cutsMark(highlight *Cell) bool {
	end := highlight.Body.End
	if p.across.at != end { // many openers may have the same closer
		p.across.at, p.across.mark = end, p.lastMark(end)
	}
	return p.across.mark.Start >= highlight.Body.Start && p.across.mark.End > end
}

// lastMark returns the last known mark that opens before an offset and is no highlight, or a zero range. The offset must
// not decrease from call to call.
func (p *parser) lastMark(before int) span.Span {
	x := &p.across
	if x.openers == nil {
		x.find.Text, x.openers = p.Raw, p.Known.offsets
		if p.Known.every {
			x.openers = Openers(p.Raw)
		}
		x.openers = slices.DeleteFunc(slices.Clone(x.openers), func(at int) bool { return strings.HasPrefix(p.Raw[at:], "{==") })
	}
	i, _ := slices.BinarySearch(x.openers, before)
	if i == 0 {
		return span.Span{}
	}
	unclosed := p.Unclosed
	c, _ := p.mark(&x.find, x.openers[i-1])
	p.Unclosed = unclosed // the openers before this one are yet to be read
	return c.Span
}

func (p *parser) zones() *literals {
	if p.literals == nil {
		p.literals = findLiterals(p.Raw, p.Known)
	}
	return p.literals
}

// isEmpty reports whether a mark has no body, or whether its opener and closer share characters.
func (p *parser) isEmpty(c *Cell) bool {
	switch c.Kind {
	case Comment:
		return c.Body.Empty()
	case Hidden:
		return false
	case Substitution:
		return c.Added().Empty() && c.Deleted().Empty() || p.Raw[c.Start+DelimiterLen] == '}'
	}
	return c.Body.Empty() || p.Raw[c.Start+DelimiterLen] == '}'
}

// literals has the literal ranges of a raw text. It finds them in the text without the known marks.
type literals struct {
	*markdown.Zones
	all       bool      // no mark is known, so the text without known marks equals the raw text
	remaining []Segment // unless all is set, the parts of the raw text without known marks
}

func findLiterals(raw string, known Known) *literals {
	if len(known.offsets) == 0 {
		return &literals{Zones: markdown.NewZones(raw), all: true}
	}
	p := parser{Document: &Document{Raw: raw, Unclosed: -1, Known: known}, knownOnly: true}
	p.scan(0, len(raw), -1)
	return &literals{Zones: markdown.NewZones(p.Render(OriginalView)), remaining: p.Segments(OriginalView)}
}

// offset converts an offset of the raw text to the text without the known marks.
func (l *literals) offset(raw int) int {
	if l.all {
		return raw
	}
	return ViewOff(l.remaining, raw)
}
