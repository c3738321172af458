package attribution

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// Two mounts of one server that write or decide at the same moment may leave the marks of one around, inside of or
// in part beside those of the other. What each character is in is known, so the marks are written again from that.

// delimiter is a delimiter of a mark that a program wrote.
type delimiter struct {
	at    int // offset
	opens bool
	char  byte
}

// delimiters lists those of raw, whose known marks and identities are given.
func delimiters(raw string, known diffwrap.Known, u Units) (list []delimiter) {
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
		// A change may make one of a delimiter and of a character of the text that it replaces.
		from, whole, some := cursor.PosAt(at), true, false
		u.Facts(from, from+MarkEdge, func(_ int, _ model.IDRun, is *Fact) {
			whole, some = whole && (is.isSyntax() || is.By.MakesMarks()) && !is.Torn, some || is.isSyntax()
		})
		if whole && some {
			list = append(list, d)
			at += MarkEdge - 1
		}
	}
	// A mark of which a person has written one delimiter is a mark, too.
	at := make(map[int]bool, len(list))
	for _, d := range list {
		at[d.at] = true
	}
	marks, _, _ := known.Layout(raw)
	for _, m := range marks {
		if first, last := m.Start, m.End-MarkEdge; at[first] != at[last] {
			list = slices.DeleteFunc(list, func(d delimiter) bool { return d.at == first || d.at == last })
		}
	}
	return list
}

// isSyntax says whether a program wrote the character as that of a mark, and not as a comment's.
func (f *Fact) isSyntax() bool { return f.Syntax && f.Ins.Of == nil }

// Untangled returns the edits of raw, whose known marks and identities are given, that write tangled marks again, and take
// out delimiters that belong to none.
func (t *Table) Untangled(raw string, known diffwrap.Known, u Units) []diffwrap.Edit {
	if t.silent() {
		return nil
	}
	list := delimiters(raw, known, u)
	var open []int // indexes of list
	var edits []diffwrap.Edit
	lone := make(map[int]bool)
	for i, d := range list {
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
	return edits
}

// rewritten returns the edits that write the marks from one offset to another again.
func rewritten(raw string, u Units, from, to int) (edits []diffwrap.Edit) {
	var in string // the character of the delimiters of the open mark, "" without one
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
	u.Facts(start, cursor.PosAt(to), func(pos int, r model.IDRun, is *Fact) {
		end := offs.OffAt(pos + int(r.Len))
		if is.isSyntax() {
			next.Len = end - next.Off
			return
		}
		turn(is.mark())
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

// mark is what the character is in, and the character of the delimiters of that, "" for none.
func (f *Fact) mark() (char string, of *Suggestion) {
	if added := f.Pending(false); added != nil && !added.Comment {
		return "+", added
	}
	if deleted := f.Pending(true); deleted != nil {
		return "-", deleted
	}
	return "", nil
}
