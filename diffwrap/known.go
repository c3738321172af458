package diffwrap

import (
	"unsafe"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
)

// Known lists the marks of a raw text that its caller knows to be marks, because it has recorded that a program wrote them. They
// count wherever they stand. Other well-formed marks count only where they cannot be ordinary text: not in front matter, code,
// formulas, HTML tags and comments, %% comments and templates, not without a body, and, except for comments and highlights, not from
// the middle of one block to the middle of another. All of that is literal text.
//
// Its methods read a raw text. Functions of the same names read one of which no mark is known.
type Known struct {
	marks critic.Known
	doc   *critic.Document // what was read last, nil for nothing
}

// KnownAt returns the marks that open at the given offsets of a text, which are in order.
func KnownAt(offsets []int) Known { return Known{marks: critic.KnownAt(offsets)} }

// Everything counts every well-formed mark, wherever it stands: for callers that look for what may be one.
var Everything = Known{marks: critic.Everything}

// Offsets lists where they open.
func (k Known) Offsets() []int { return k.marks.Offsets() }

// Bytes is about how much memory what was read takes.
func (k Known) Bytes() int {
	if k.doc == nil {
		return 0
	}
	return len(k.doc.Cells) * int(unsafe.Sizeof(critic.Cell{}))
}

// Same reports whether two lists are equal.
func (k Known) Same(other Known) bool { return k.marks.Same(other.marks) }

// MarksOf returns all marks of raw, known or not.
func (k Known) MarksOf(raw string) Known { return Known{marks: k.parse(raw).Counted()} }

// Through returns the known marks of the text that a script makes of raw: those whose openers it leaves alone.
func (k Known) Through(raw string, edits []Edit) Known {
	return Known{marks: k.marks.Through(raw, edits)}
}

// Kept returns the marks of the text that edits make of raw which are not known, were marks in raw, and count no more by themselves.
func (k Known) Kept(raw string, edits []Edit) Known {
	others := k.MarksOf(raw).marks.Without(k.marks).Through(raw, edits)
	if len(others.Offsets()) == 0 {
		return Known{}
	}
	return Known{marks: others.Without(k.Through(raw, edits).MarksOf(Apply(raw, edits)).marks)}
}

// Before returns those that open before an offset.
func (k Known) Before(at int) Known { return Known{marks: k.marks.Before(at)} }

// From returns those that open at or behind an offset of a text, for the rest of the text.
func (k Known) From(at int) Known { return Known{marks: k.marks.From(at).Shift(-at)} }

// MayBeMarks lists the offsets at which a mark may open in raw, wherever it stands.
func MayBeMarks(raw string) []int { return critic.Openers(raw) }

// IsCertain reports whether it makes no difference to the marks of raw which of them are known.
func IsCertain(raw string) bool { return critic.IsCertain(raw) }

// Literals finds the stretches of a text without marks in which nothing is a mark: front matter, code, formulas, HTML tags and
// comments, %% comments and templates.
type Literals struct{ zones *markdown.Zones }

// LiteralsOf prepares to read a text.
func LiteralsOf(text string) Literals { return Literals{markdown.NewZones(text)} }

// Has reports whether an offset lies inside of one. It must not be smaller than in the call before.
func (l Literals) Has(at int) bool { return l.zones.In(at) }

// Read returns k with what it reads in raw, which no method has to read again.
func (k Known) Read(raw string) Known {
	k.doc = k.parse(raw)
	return k
}

// parse returns a document that others read, too.
func (k Known) parse(raw string) *critic.Document {
	if k.doc != nil && k.doc.Raw == raw {
		return k.doc
	}
	return critic.Parse(raw, k.marks)
}
