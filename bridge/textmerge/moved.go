package textmerge

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
)

// Moved is text of a mark that stands somewhere else after a save.
type Moved struct{ From, To diffwrap.Span }

// MovedMarks finds the marks that a save took away at one place and put at another: sorted, cut and pasted, or with lines
// put between its delimiters. It returns the edits with each of them taken away whole and put there whole, and where its
// delimiters and its text went, in order of To. What else stands between the delimiters then is typed there, and not part
// of the mark.
func MovedMarks(before, after string, edits []diffwrap.Edit) ([]diffwrap.Edit, []Moved) {
	if !mayHaveMarks(before) || !mayHaveMarks(after) {
		return edits, nil
	}
	kept := Kept(len(before), edits)
	lost, found := unkept(Flip(kept), before), unkept(kept, after)
	if len(lost)*len(found) > maxMovedPairs {
		return edits, nil
	}
	var moved []Moved
	var gone []diffwrap.Span // the marks of before that moved
	for _, m := range lost {
		for i, to := range found {
			if m.open.Of(before) != to.open.Of(after) || m.close.Of(before) != to.close.Of(after) {
				continue
			}
			lines := movedLines(before, m.body, after, to.body)
			if !slices.ContainsFunc(lines, func(x Moved) bool { return hasWord(x.To.Of(after)) }) {
				continue
			}
			found = slices.Delete(found, i, i+1)
			moved = append(append(moved, lines...), Moved{m.open, to.open}, Moved{m.close, to.close})
			gone = append(gone, diffwrap.Span{Start: m.open.Start, End: m.close.End})
			break
		}
	}
	if len(moved) == 0 {
		return edits, nil
	}
	slices.SortFunc(moved, func(a, b Moved) int { return a.To.Start - b.To.Start })
	there := make([]diffwrap.Span, len(moved))
	for i, m := range moved {
		there[i] = m.To
	}
	kept = outside(Flip(outside(Flip(kept), gone)), there)
	return scriptOf(kept, before, after), moved
}

// maxMovedPairs bounds how many pairs of marks are compared. Where a save moves more than a thousand at once, they are typed.
const maxMovedPairs = 1 << 20

// unkept are the marks of the text of which shared has not both delimiters in one piece each: the text is the second one.
func unkept(shared []Span, raw string) []markText {
	return slices.DeleteFunc(textsOfMarks(raw), func(m markText) bool {
		_, opens := Back(shared, m.open)
		_, closes := Back(shared, m.close)
		return opens && closes
	})
}

// markText is a mark in its three parts. A substitution has both of its texts in body.
type markText struct{ open, body, close diffwrap.Span }

func textsOfMarks(raw string) (list []markText) {
	marks, _, _ := diffwrap.Everything.Layout(raw)
	for _, m := range marks {
		body := diffwrap.Span{Start: m.Start + 3, End: m.End - 3}
		switch {
		case raw[m.Start:m.Start+3] == "{~~":
		case !m.Added.Empty():
			body = m.Added
		default:
			body = m.Deleted
		}
		if !body.Empty() {
			list = append(list, markText{diffwrap.Span{Start: m.Start, End: body.Start}, body, diffwrap.Span{Start: body.End, End: m.End}})
		}
	}
	return list
}

// movedLines finds the lines of a mark's text in that of another mark. Each has the break before it, or else behind it.
func movedLines(before string, from diffwrap.Span, after string, to diffwrap.Span) (moved []Moved) {
	free := []diffwrap.Span{to}
	for at := from.Start; at < from.End; {
		end := from.End
		if i := strings.IndexByte(before[at+1:from.End], '\n'); i >= 0 {
			if end = at + 1 + i; before[from.Start] != '\n' {
				end++
			}
		}
		line := diffwrap.Span{Start: at, End: end}
		at = end
		for i, f := range free {
			off := strings.LastIndex(f.Of(after), line.Of(before))
			if off < 0 {
				continue
			}
			is := diffwrap.Span{Start: f.Start + off, End: f.Start + off + line.End - line.Start}
			free = slices.Replace(free, i, i+1, diffwrap.Span{Start: f.Start, End: is.Start}, diffwrap.Span{Start: is.End, End: f.End})
			moved = append(moved, Moved{line, is})
			break
		}
	}
	return moved
}

// toBorders lets what a save types inside of a mark stand at the border of the mark's text where the same text comes of
// it: a line that is typed above a pending line, in the same mark, begins behind the break before that.
func toBorders(before string, edits []diffwrap.Edit) []diffwrap.Edit {
	if !mayHaveMarks(before) {
		return edits
	}
	_, text, _ := diffwrap.Everything.Layout(before)
	end := 0 // of the edit before
	for i := range edits {
		e := &edits[i]
		next := len(before)
		if i+1 < len(edits) {
			next = edits[i+1].Off
		}
		for len(text) > 0 && (text[0].End < e.Off || text[0].Mark < 0) {
			text = text[1:]
		}
		if e.Len == 0 && len(text) > 0 && text[0].Start < e.Off && e.Off < text[0].End {
			head, tail := before[text[0].Start:e.Off], before[e.Off:text[0].End]
			switch {
			case end <= text[0].Start && strings.HasSuffix(e.New, head):
				e.Off, e.New = text[0].Start, head+strings.TrimSuffix(e.New, head)
			case text[0].End <= next && strings.HasPrefix(e.New, tail):
				e.Off, e.New = text[0].End, strings.TrimPrefix(e.New, tail)+tail
			}
		}
		end = e.Off + e.Len
	}
	return edits
}
