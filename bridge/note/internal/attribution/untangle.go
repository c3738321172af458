package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// Two mounts of one server that write or decide concurrently may nest or interleave their marks. The fact of each
// character shows to which mark it belongs, so relayfs can rewrite the marks from the facts.

type delimiter struct {
	at    int
	opens bool
	char  byte
}

// delimiters lists the delimiters in raw; marks and u are the marks and identities of raw.
func delimiters(raw string, marks []diffwrap.Mark, u Units) (list []delimiter) {
	cursor := textmerge.NewCursor(raw)
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
		// A change may form a delimiter from its own characters and characters of the text that it replaces.
		from, whole, some := cursor.PosAt(at), true, false
		u.Facts(from, from+MarkEdge, func(_ int, _ model.IDRange, fact *Fact) {
			whole, some = whole && fact.By != nil && !fact.Broken, some || fact.isSyntax()
		})
		if whole && some {
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

// strayDelimiters returns the edits that remove leftover characters of delimiters outside of spans. They occur if one
// change writes only part of a delimiter and another change removes the rest.
func strayDelimiters(raw string, u Units, spans []diffwrap.Span) (edits []diffwrap.Edit) {
	slices.SortFunc(spans, func(a, b diffwrap.Span) int { return a.Start - b.Start })
	cursor, end := textmerge.NewCursor(raw), 0
	for at := range len(raw) {
		for ; len(spans) > 0 && spans[0].Start <= at; spans = spans[1:] {
			end = max(end, spans[0].End)
		}
		if at < end || !strings.Contains("{}+-~", raw[at:at+1]) {
			continue
		}
		from := cursor.PosAt(at)
		u.Facts(from, from+1, func(_ int, _ model.IDRange, fact *Fact) {
			if fact.isSyntax() {
				edits = append(edits, diffwrap.Edit{Off: at, Len: 1})
			}
		})
	}
	return edits
}

// isSyntax reports whether the character is part of an agent's mark that is not a comment.
func (f *Fact) isSyntax() bool { return f.Syntax && f.By != nil && f.Ins.Of == nil }

// Corrected returns the edits of raw that rewrite tangled marks and remove unmatched delimiters. known has the known
// marks of raw, and u has its identities. Marks are tangled if a delimiter is part of the text.
func (t *Table) Corrected(raw string, known diffwrap.Known, u Units) []diffwrap.Edit {
	if t.hasNoAgentText() {
		return nil
	}
	marks, text, spans := known.Layout(raw)
	cursor := textmerge.NewCursor(raw)
	hasDelimiter := func(c diffwrap.Content) (has bool) {
		u.Facts(cursor.PosAt(c.Start), cursor.PosAt(c.End), func(_ int, _ model.IDRange, fact *Fact) { has = has || fact.isSyntax() })
		return has
	}
	if !slices.ContainsFunc(text, hasDelimiter) {
		return nil
	}
	list := delimiters(raw, marks, u)
	for _, m := range marks {
		spans = append(spans, diffwrap.Span{Start: m.Start, End: m.End})
	}
	var open []int // indexes in list
	var edits []diffwrap.Edit
	lone := make(map[int]bool)
	for i, d := range list {
		spans = append(spans, diffwrap.Span{Start: d.at, End: d.at + MarkEdge})
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
	depth, start, tangled := 0, 0, false
	var opener byte
	for i, d := range list {
		switch {
		case lone[i]:
			if depth > 0 {
				tangled = true
				break
			}
			edits = append(edits, diffwrap.Edit{Off: d.at, Len: MarkEdge})
		case d.opens:
			if depth == 0 {
				start, opener, tangled = d.at, d.char, false
			}
			depth++
			tangled = tangled || depth > 1
		default:
			depth--
			tangled = tangled || d.char != opener
			if depth == 0 && tangled {
				edits = append(edits, rewritten(raw, u, start, d.at+MarkEdge)...)
			}
		}
	}
	for _, e := range edits {
		spans = append(spans, diffwrap.Span{Start: e.Off, End: e.Off + e.Len})
	}
	edits = append(edits, strayDelimiters(raw, u, spans)...)
	slices.SortStableFunc(edits, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	return edits
}

// rewritten returns the edits that rewrite the marks between two offsets.
func rewritten(raw string, u Units, from, to int) (edits []diffwrap.Edit) {
	var in string // delimiter character of the open mark, or ""
	var of *Suggestion
	next := diffwrap.Edit{Off: from}
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
	cursor, offs := textmerge.NewCursor(raw), textmerge.NewCursor(raw)
	start := cursor.PosAt(from)
	u.Facts(start, cursor.PosAt(to), func(pos int, r model.IDRange, fact *Fact) {
		end := offs.OffAt(pos + int(r.Len))
		if fact.isSyntax() {
			next.Len = end - next.Off
			return
		}
		turn(fact.mark())
		if next.Len > 0 || next.New != "" {
			edits = append(edits, next)
		}
		next = diffwrap.Edit{Off: end}
	})
	turn("", nil)
	if next.Len > 0 || next.New != "" {
		edits = append(edits, next)
	}
	return slices.Clip(edits)
}

// mark returns the pending suggestion of the character, and the character that its delimiters consist of. char is "" if
// no suggestion is pending.
func (f *Fact) mark() (char string, of *Suggestion) {
	if added := f.Pending(false); added != nil && !added.Comment {
		return "+", added
	}
	if deleted := f.Pending(true); deleted != nil {
		return "-", deleted
	}
	return "", nil
}
