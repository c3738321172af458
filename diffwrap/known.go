package diffwrap

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
)

// Known lists the known marks of a raw text: the caller has recorded that a program wrote these marks. A known mark
// counts at any position, unless it is a highlight that would end inside another one, and an opener that the caller has
// recorded as text counts at none. Another well-formed mark counts only if it has a body and cannot be ordinary text: it
// must not be in front matter, code, formulas, HTML tags and comments, %% comments or templates. If it is a suggestion,
// it must not reach from the middle of one block to the middle of another. Marks that do not count are literal text.
//
// The methods of Known read a raw text with these known marks. The functions of the same names read a raw text without
// known marks.
type Known struct {
	marks critic.Known
	doc   *critic.Document // the cached parse, or nil
}

// KnownAt returns the marks that open at the given offsets. The offsets must be in order.
func KnownAt(offsets []int) Known { return Known{marks: critic.KnownAt(offsets)} }

// Everything treats every well-formed mark as known, at any position. It is for callers that look for possible marks.
var Everything = Known{marks: critic.Everything}

func (k Known) Offsets() []int { return k.marks.Offsets() }

// Literal returns the offsets of the openers that are literal text wherever they stand.
func (k Known) Literal() []int { return k.marks.Literal() }

// Bytes returns the approximate size of the cached parse in memory.
func (k Known) Bytes() int {
	if k.doc == nil {
		return 0
	}
	return len(k.doc.Cells) * int(unsafe.Sizeof(critic.Cell{}))
}

func (k Known) Same(other Known) bool { return k.marks.Same(other.marks) }

// MarksOf returns the marks that count in raw, and the openers of those that are literal text.
func (k Known) MarksOf(raw string) Known {
	d := k.parse(raw)
	return Known{marks: d.Counted().Except(d.Literal...)}
}

// AfterEdits returns the known marks of the text that a script makes from raw: the marks whose openers the script
// keeps.
func (k Known) AfterEdits(raw string, edits []Edit) Known {
	if len(edits) == 0 {
		return k
	}
	return Known{marks: k.marks.AfterEdits(raw, edits)}
}

// maxTurns is the maximum number of times that ToHave parses a text: one opener can hide another one.
const maxTurns = 8

// ToHave returns the openers to record so that raw has exactly the marks of want: unknown marks that would not count, and
// literal text that would. A comment may count that is neither a mark nor literal in want, because the rejection of its
// deletion restores it.
func (k Known) ToHave(want Known, raw string) (marks, literal []int) {
	if len(k.marks.Missing(critic.KnownAt(MayBeMarks(raw)))) == 0 {
		return nil, nil
	}
	for range maxTurns {
		has := k.MarksOf(raw).marks
		lost := k.marks.And(has.Offsets()...).Missing(want.marks)
		gained := want.marks.And(k.marks.Offsets()...).Missing(has)
		gained = slices.DeleteFunc(gained, func(at int) bool { return strings.HasPrefix(raw[at:], "{>>") && !want.marks.IsLiteral(at) })
		if len(lost)+len(gained) == 0 {
			break
		}
		marks, literal = append(marks, lost...), append(literal, gained...)
		k = Known{marks: k.marks.And(lost...).Except(gained...)}
	}
	return marks, literal
}

// Except returns k, with the openers at the given offsets as literal text wherever they stand.
func (k Known) Except(offsets ...int) Known { return Known{marks: k.marks.Except(offsets...)} }

// Without returns k without the marks that open at the given offsets.
func (k Known) Without(offsets ...int) Known { return Known{marks: k.marks.Without(offsets...)} }

func (k Known) Before(at int) Known { return Known{marks: k.marks.Before(at)} }

// And returns k with the marks that open at the given offsets.
func (k Known) And(offsets ...int) Known { return Known{marks: k.marks.And(offsets...)} }

// From returns the marks that open at or after an offset, relative to that offset.
func (k Known) From(at int) Known { return Known{marks: k.marks.From(at).Shift(-at)} }

// IsApart reports whether each opener in raw belongs to a known mark that is not in another one. The marks of a part of
// such a text, from Around, do not depend on the other parts.
func (k Known) IsApart(raw string) bool { return k.parse(raw).IsApart() }

// Around returns the range from the last line break before s to the first line break after s, both included, that are
// not in marks. It goes to the start or the end of raw if there is none. IsApart must be true.
func (k Known) Around(raw string, s Span) Span {
	plain := func(at int) bool {
		i, found := slices.BinarySearch(k.Offsets(), at)
		if !found {
			i--
		}
		if i < 0 {
			return true
		}
		start := k.Offsets()[i]
		first := critic.Parse(raw[start:at+1], critic.KnownAt([]int{0})).Cells[0]
		return first.Kind != critic.Text && start+first.End <= at
	}
	for s.Start > 0 {
		if s.Start = max(0, strings.LastIndexByte(raw[:s.Start], '\n')); plain(s.Start) {
			break
		}
	}
	for s.End < len(raw) {
		n := strings.IndexByte(raw[s.End:], '\n')
		if n < 0 {
			s.End = len(raw)
			break
		}
		if s.End += n + 1; plain(s.End - 1) {
			break
		}
	}
	return s
}

// Breaks returns the number of line breaks in the accepted view before an offset, which is not in a mark. IsApart must be
// true.
func (k Known) Breaks(raw string, before int) int { return k.marks.Before(before).Breaks(raw[:before]) }

// With returns the known marks of a text whose part at s was replaced by a text of the given size with the marks part.
func (k Known) With(s Span, size int, part Known) Known {
	return Known{marks: k.marks.With(s, size, part.marks)}
}

// MayBeMarks lists the offsets in raw where a mark or a deleted comment may open, at any position.
func MayBeMarks(raw string) []int { return critic.Openers(raw) }

// OpenerAt returns the ranges of the characters of one of these openers. second is empty unless the opener is that of a
// deleted comment, which the deletion has cut in two.
func OpenerAt(raw string, at int) (first, second Span) { return critic.OpenerAt(raw, at) }

// IsCertain reports whether raw certainly has the same marks for every Known. It may return false even if raw has the
// same marks.
func IsCertain(raw string) bool { return critic.IsCertain(raw) }

// Literals finds, in a text without marks, the ranges where delimiters are literal: front matter, code, formulas, HTML
// tags and comments, %% comments and templates.
type Literals struct{ zones *markdown.Zones }

func LiteralsOf(text string) Literals { return Literals{markdown.NewZones(text)} }

// Has reports whether an offset is inside a literal range, not at its start. Offsets must not decrease between calls.
func (l Literals) Has(at int) bool { return l.zones.In(at) }

// Read returns k with a cached parse of raw, so that most of its methods need not parse raw again.
func (k Known) Read(raw string) Known {
	k.doc = k.parse(raw)
	return k
}

// parse returns a shared document, which callers must not change.
func (k Known) parse(raw string) *critic.Document {
	if k.doc != nil && k.doc.Raw == raw {
		return k.doc
	}
	return critic.Parse(raw, k.marks)
}
