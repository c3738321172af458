package attribution

import (
	"slices"
	"strings"

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

type delimiter struct {
	at    int
	opens bool
	char  byte
}

// delimiters lists the delimiters of a text with the given marks.
func (u *Units) delimiters(marks []diffwrap.Mark) (list []delimiter) {
	raw := u.Raw
	for at := 0; at+MarkEdge <= len(raw); at++ {
		d := delimiter{at: at}
		switch raw[at : at+MarkEdge] {
		case "{++", "{--", "{~~":
			d.opens, d.char = true, raw[at+1]
		case "++}", "--}", "~~}":
			d.char = raw[at]
		default:
			continue
		}
		whole := true
		for p := range u.In(opener(at)) {
			whole = whole && p.isSyntax() && !p.Broken
		}
		if whole {
			list = append(list, d)
			at += MarkEdge - 1
		}
	}
	// A pair of delimiters counts as a mark even if a user wrote one of them.
	at := make(map[int]bool, len(list))
	for _, d := range list {
		at[d.at] = true
	}
	for _, m := range marks {
		if first, last := m.Start, m.End-MarkEdge; at[first] != at[last] {
			list = slices.DeleteFunc(list, func(d delimiter) bool { return d.at == first || d.at == last })
		}
	}
	return list
}

// strayDelimiters returns the edits that remove leftover characters of delimiters outside of spans. They occur if a user
// deletes part of a delimiter.
func (u *Units) strayDelimiters(spans []diffwrap.Span) (edits []diffwrap.Edit) {
	slices.SortFunc(spans, func(a, b diffwrap.Span) int { return a.Start - b.Start })
	end := 0
	for at := range len(u.Raw) {
		for ; len(spans) > 0 && spans[0].Start <= at; spans = spans[1:] {
			end = max(end, spans[0].End)
		}
		if at >= end && strings.Contains("{}+-~", u.Raw[at:at+1]) && u.hasSyntax(diffwrap.Span{Start: at, End: at + 1}) {
			edits = append(edits, diffwrap.Edit{Off: at, Len: 1})
		}
	}
	return edits
}

// isSyntax reports whether the character is part of an agent's mark that is not a comment.
func (f *Fact) isSyntax() bool { return f.Syntax && f.By != nil && f.Ins.Of == nil }

func (u *Units) hasSyntax(s diffwrap.Span) bool {
	for p := range u.In(s) {
		if p.isSyntax() {
			return true
		}
	}
	return false
}

// Corrected returns the edits that rewrite marks from the facts where both differ, and remove unmatched delimiters. known
// has the known marks of the text. They differ if marks are tangled (a delimiter is part of the text), or if pending text
// is in an agent's mark of the other kind. Other pending text outside of marks is a user's decision: the user has removed
// the delimiters. Unmarked suggestions lost them to another mount's decision or write.
func (t *Table) Corrected(u *Units, known diffwrap.Known) []diffwrap.Edit {
	if u.facts == nil {
		return nil
	}
	marks, text, spans := known.Layout(u.Raw)
	tangled, isUnmarked := false, t.unmarkedIn(u)
	var wrong []diffwrap.Span // pending text in a mark of the other kind, or without a mark that a user could have removed
	for _, c := range text {
		agents := c.Mark >= 0 && u.hasSyntax(marks[c.Mark].Span)
		for p := range u.In(c.Span) {
			char, of := p.mark()
			if tangled = tangled || p.isSyntax(); agents && (char == "+" && c.Deleted || char == "-" && c.Added) || c.Mark < 0 && of != nil && isUnmarked(of) {
				wrong = append(wrong, p.Span)
			}
		}
	}
	if !tangled && len(wrong) == 0 {
		return nil
	}
	list := u.delimiters(marks)
	for _, m := range marks {
		spans = append(spans, m.Span)
	}
	var open []int // indexes in list
	lone := make(map[int]bool)
	for i, d := range list {
		spans = append(spans, opener(d.at))
		if d.opens {
			open = append(open, i)
		} else if len(open) > 0 {
			open = open[:len(open)-1]
		} else {
			lone[i] = true
		}
	}
	for _, i := range open {
		lone[i] = true
	}
	type part struct {
		diffwrap.Span
		wrong bool
	}
	var parts []part // marks, tangled marks, and the surroundings of lone delimiters
	var mark part
	depth, pending := 0, u.pendingRuns()
	for i, d := range list {
		switch {
		case lone[i]:
			parts = append(parts, part{around(d, pending[d.char]), true})
		case d.opens:
			if depth++; depth == 1 {
				mark = part{Span: opener(d.at)}
			}
			mark.wrong = mark.wrong || depth > 1
		default:
			depth--
			mark.End, mark.wrong = d.at+MarkEdge, mark.wrong || d.char != u.Raw[mark.Start+1]
			if depth == 0 {
				parts = append(parts, mark)
			}
		}
	}
	for _, at := range wrong {
		parts = append(parts, part{at, true})
	}
	slices.SortFunc(parts, func(a, b part) int { return a.Start - b.Start })
	var edits []diffwrap.Edit
	for len(parts) > 0 {
		p := parts[0]
		for parts = parts[1:]; len(parts) > 0 && parts[0].Start < p.End; parts = parts[1:] {
			p.End, p.wrong = max(p.End, parts[0].End), true
		}
		if p.wrong {
			edits = append(edits, u.rewritten(p.Span)...)
		}
	}
	edits = slices.DeleteFunc(edits, func(e diffwrap.Edit) bool { return e.New == u.Raw[e.Off:e.Off+e.Len] })
	for _, e := range edits {
		spans = append(spans, diffwrap.Span{Start: e.Off, End: e.Off + e.Len})
	}
	edits = append(edits, u.strayDelimiters(spans)...)
	slices.SortStableFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	return edits
}

// pendingRuns lists the ranges of pending text without a gap, by the character of their delimiters.
func (u *Units) pendingRuns() map[byte][]diffwrap.Span {
	runs := make(map[byte][]diffwrap.Span)
	for p := range u.all() {
		char, _ := p.mark()
		if char == "" {
			continue
		}
		if list := runs[char[0]]; len(list) > 0 && list[len(list)-1].End == p.Start {
			list[len(list)-1].End = p.End
		} else {
			runs[char[0]] = append(list, p.Span)
		}
	}
	return runs
}

// around returns the range from a delimiter without a partner to the nearest pending text that such a delimiter marks.
// Without such text, it is the range of the delimiter.
func around(d delimiter, runs []diffwrap.Span) diffwrap.Span {
	s := opener(d.at)
	next, _ := slices.BinarySearchFunc(runs, d.at, func(r diffwrap.Span, at int) int { return r.Start - at })
	switch {
	case d.opens && next < len(runs):
		s.End = runs[next].End
	case !d.opens && next > 0:
		s.Start = runs[next-1].Start
	}
	return s
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
		if p.isSyntax() {
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
