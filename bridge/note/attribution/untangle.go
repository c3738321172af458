package attribution

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// Two mounts of one server that write or decide concurrently may nest or interleave their marks, and leave text that
// should not be there. The fact of each character shows to which mark it belongs, so relayfs can rewrite the marks from
// the facts.

// Leftovers returns the edits that remove text that a mount wrote before it had read another mount's record: text that
// the record decided away, and a second copy of text that both mounts restored or moved. Of the copies, the first in the
// document stays.
func (t *Table) Leftovers(u *Units) (edits []diffwrap.Edit) {
	if u.facts == nil {
		return nil
	}
	var copies []model.RangeValue[int]
	if len(t.restoredFrom) > 0 {
		for p := range u.all() {
			for _, original := range t.OriginalIDs(p.ID) {
				copies = append(copies, model.RangeValue[int]{Of: original, Value: p.Start})
			}
		}
	}
	first := model.RangesOf(copies, func(a, b int) bool { return a < b })
	for p := range u.all() {
		t.EachOriginal(p.ID, func(part, original model.IDRange, _ uint64) {
			first.Each(original, func(same model.IDRange, start int, ok bool) {
				if p.IsDecidedAway() || ok && start < p.Start {
					cursor, from := textmerge.NewCursor(p.Of(u.Raw)), int(part.Clock-p.ID.Clock+same.Clock-original.Clock)
					off, end := cursor.OffAt(from), cursor.OffAt(from+int(same.Len))
					edits = append(edits, diffwrap.Edit{Off: p.Start + off, Len: end - off})
				}
			})
		})
	}
	return edits
}

// isSyntax reports whether the character is part of an agent's mark that is not a comment.
func (f *Fact) isSyntax() bool { return f.Syntax && f.By != nil && f.Ins.Of == nil }

var markDelimiter = regexp.MustCompile(`^[{}+~-]+$|\{(\+\+|--|~~)|(\+\+|--|~~)\}`)

// isDelimiter reports whether p has delimiters of an agent's mark, or parts of one. A comment whose deletion is pending
// counts as text.
func (u *Units) isDelimiter(p Piece) bool {
	return p.isSyntax() && p.Pending(true) == nil && markDelimiter.MatchString(p.Of(u.Raw))
}

func (u *Units) hasSyntax(s diffwrap.Span) bool {
	for p := range u.In(s) {
		if p.isSyntax() {
			return true
		}
	}
	return false
}

// Corrected returns the edits that rewrite marks from the facts where both differ. known has the known marks of the text.
// They differ if a delimiter of an agent is part of the text, or if pending text is in an agent's mark of the other kind
// or of another suggestion. Other pending text outside of marks is a user's decision: the user has removed the
// delimiters. Unmarked suggestions lost them to another mount's decision or write.
func (t *Table) Corrected(u *Units, known diffwrap.Known) (edits []diffwrap.Edit) {
	if u.facts == nil {
		return nil
	}
	type part struct {
		diffwrap.Span
		wrong bool
	}
	var parts []part // marks that differ, and delimiters and pending text outside of marks
	add := func(s diffwrap.Span, wrong bool) {
		if n := len(parts) - 1; n >= 0 && s.Start <= parts[n].End {
			parts[n].End, parts[n].wrong = max(parts[n].End, s.End), parts[n].wrong || wrong
			return
		}
		parts = append(parts, part{s, wrong})
	}
	marks, text, _ := known.Layout(u.Raw)
	isUnmarked := t.unmarkedIn(u)
	for _, c := range text {
		agents := c.Mark >= 0 && u.hasSyntax(marks[c.Mark].Span)
		var owner *Suggestion
		for p := range u.In(c.Span) {
			char, of := p.mark()
			stray := u.isDelimiter(p)
			switch {
			case c.Mark < 0 && (stray || of != nil):
				add(p.Span, stray || isUnmarked(of))
			case agents && (stray || of != nil && (owner != nil && of != owner || c.Deleted != (char == "-"))):
				add(marks[c.Mark].Span, true)
			}
			owner = cmp.Or(of, owner)
		}
	}
	for _, p := range parts {
		if p.wrong {
			edits = append(edits, u.rewritten(p.Span)...)
		}
	}
	return slices.DeleteFunc(edits, func(e diffwrap.Edit) bool { return e.New == u.Raw[e.Off:e.Off+e.Len] })
}

// rewritten returns the edits that rewrite the marks in s.
func (u *Units) rewritten(s diffwrap.Span) (edits []diffwrap.Edit) {
	var in string // delimiter character of the open mark, or ""
	var of *Suggestion
	next := diffwrap.Edit{Off: s.Start}
	turn := func(char string, m *Suggestion) {
		if in == char && of == m {
			return
		}
		if in != "" {
			next.New += in + in + "}"
		}
		if in, of = char, m; in != "" {
			next.New += "{" + in + in
		}
	}
	for p := range u.In(s) {
		if u.isDelimiter(p) {
			next.Len = p.End - next.Off
			continue
		}
		turn(p.mark())
		if next.Len > 0 || next.New != "" {
			edits = append(edits, next)
		}
		next = diffwrap.Edit{Off: p.End}
	}
	turn("", nil)
	if next.Len > 0 || next.New != "" {
		edits = append(edits, next)
	}
	return slices.Clip(edits)
}

// mark returns the pending suggestion of the character, and the character that its delimiters consist of. char is "" if
// no suggestion is pending. Added text that is also deleted is a user's: the user has removed the delimiters of the
// addition.
func (f *Fact) mark() (char string, of *Suggestion) {
	if deleted := f.Pending(true); deleted != nil {
		return "-", deleted
	}
	if added := f.Pending(false); added != nil && !added.Comment {
		return "+", added
	}
	return "", nil
}
