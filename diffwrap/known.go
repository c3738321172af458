package diffwrap

import (
	"unsafe"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Known lists the known marks of a raw text: the caller has recorded that a program wrote these marks. A known mark
// counts at any position. Another well-formed mark counts only if it has a body and cannot be ordinary text: it must
// not be in front matter, code, formulas, HTML tags and comments, %% comments or templates. If it is a suggestion, it
// must not reach from the middle of one block to the middle of another. Marks that do not count are literal text.
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

// Bytes returns the approximate size of the cached parse in memory.
func (k Known) Bytes() int {
	if k.doc == nil {
		return 0
	}
	return len(k.doc.Cells) * int(unsafe.Sizeof(critic.Cell{}))
}

func (k Known) Same(other Known) bool { return k.marks.Same(other.marks) }

func (k Known) MarksOf(raw string) Known { return Known{marks: k.parse(raw).Counted()} }

// AfterEdits returns the known marks of the text that a script makes from raw: the marks whose openers the script
// keeps.
func (k Known) AfterEdits(raw string, edits []Edit) Known {
	if len(edits) == 0 {
		return k
	}
	return Known{marks: k.marks.AfterEdits(raw, edits)}
}

// Kept returns the unknown marks that edits keep, but that would not count in the text after the edits.
func (k Known) Kept(raw string, edits []Edit) Known {
	others := k.MarksOf(raw).marks.Without(k.marks).AfterEdits(raw, edits)
	if len(others.Offsets()) == 0 {
		return Known{}
	}
	return Known{marks: others.Without(k.AfterEdits(raw, edits).MarksOf(Apply(raw, edits)).marks)}
}

func (k Known) Before(at int) Known { return Known{marks: k.marks.Before(at)} }

// From returns the marks that open at or after an offset, relative to that offset.
func (k Known) From(at int) Known { return Known{marks: k.marks.From(at).Shift(-at)} }

// MayBeMarks lists the offsets in raw where a mark or a deleted comment may open, at any position.
func MayBeMarks(raw string) []int { return critic.Openers(raw) }

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

// Reread is Read for a text that begins and ends like the text that former has read. It parses only the other part again
// and returns the part. It compares at most the first and the last bytes of raw with the other text.
func (k Known) Reread(raw string, former Known, first, last int) (Known, Span) {
	whole := span.New(0, len(raw))
	if former.doc == nil {
		return k.Read(raw), whole
	}
	old := former.doc.Raw
	first = align.Prefix(raw[:first], old)
	last = align.Suffix(raw[max(first, len(raw)-last):], old[first:])
	var done *critic.Document
	if k.doc != nil && k.doc.Raw == raw {
		done = k.doc
	}
	doc, part := former.doc.Reparse(raw, k.marks, first, last, done)
	if doc == nil {
		return k.Read(raw), whole
	}
	k.doc = doc
	return k, part
}

// parse returns a shared document, which callers must not change.
func (k Known) parse(raw string) *critic.Document {
	if k.doc != nil && k.doc.Raw == raw {
		return k.doc
	}
	return critic.Parse(raw, k.marks)
}
