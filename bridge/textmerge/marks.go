package textmerge

import (
	"slices"
	"strings"
	"unicode"

	"github.com/relayfs/relayfs/diffwrap"
)

// wholeMarks lets a script of raw text write a mark as a whole that a save puts in the place of
// others: it has words, all of them new, and the save changed more there than what one mark
// has between its delimiters. Else the delimiters and breaks that both have in common would be
// taken for text that the writer kept, and the new words for some typed into the old mark.
func wholeMarks(before, after string, edits []diffwrap.Edit) []diffwrap.Edit {
	if !mayHaveMarks(before) || !mayHaveMarks(after) {
		return edits
	}
	kept := Kept(len(before), edits)
	rewritten := rewritten(before, after, edits)
	marks, text, _ := diffwrap.Layout(after)
	left, renewed := kept, false
	for k, m := range marks {
		for len(rewritten) > 0 && rewritten[0].End < m.Start {
			rewritten = rewritten[1:]
		}
		types, keeps := false, false
		for len(text) > 0 && text[0].Start < m.End {
			c := text[0]
			text = text[1:]
			for len(kept) > 0 && kept[0].B+kept[0].N <= c.Start {
				kept = kept[1:]
			}
			for i := 0; i < len(kept) && kept[i].B < c.End; i++ {
				keeps = keeps || c.Mark == k && hasWord(after[max(c.Start, kept[i].B):min(c.End, kept[i].B+kept[i].N)])
			}
			types = types || c.Mark == k && hasWord(c.Of(after))
		}
		if types && !keeps && len(rewritten) > 0 && rewritten[0].Start <= m.End {
			left, renewed = outside(left, m.Span), true
		}
	}
	if !renewed {
		return edits
	}
	return scriptOf(left, before, after)
}

func mayHaveMarks(raw string) bool {
	return strings.Contains(raw, "{++") || strings.Contains(raw, "{--") || strings.Contains(raw, "{~~")
}

// rewritten are the stretches of after in which edits change delimiters of marks. Edits in marks that touch are one if
// there are no words between them.
func rewritten(before, after string, edits []diffwrap.Edit) (list []diffwrap.Span) {
	groups, was := groupsOfMarks(before)
	_, is := groupsOfMarks(after)
	moved := 0
	for i := 0; i < len(edits); {
		gone := diffwrap.Span{Start: edits[i].Off, End: edits[i].Off + edits[i].Len}
		start := edits[i].Off + moved
		moved += len(edits[i].New) - edits[i].Len
		for i++; i < len(edits); i++ {
			if gap := (diffwrap.Span{Start: gone.End, End: edits[i].Off}); !within(gap, groups) || hasWord(gap.Of(before)) {
				break
			}
			gone.End = edits[i].Off + edits[i].Len
			moved += len(edits[i].New) - edits[i].Len
		}
		if new := (diffwrap.Span{Start: start, End: gone.End + moved}); overlap(gone, was) || overlap(new, is) {
			list = append(list, new)
		}
	}
	return list
}

// groupsOfMarks are the marks of a raw text, such as touch in one, and their delimiters.
func groupsOfMarks(raw string) (groups, delimiters []diffwrap.Span) {
	marks, text, _ := diffwrap.Layout(raw)
	for k, m := range marks {
		if n := len(groups); n > 0 && groups[n-1].End == m.Start {
			groups[n-1].End = m.End
		} else {
			groups = append(groups, m.Span)
		}
		at := m.Start
		for ; len(text) > 0 && text[0].Start < m.End; text = text[1:] {
			if text[0].Mark == k {
				delimiters = append(delimiters, diffwrap.Span{Start: at, End: text[0].Start})
				at = text[0].End
			}
		}
		delimiters = append(delimiters, diffwrap.Span{Start: at, End: m.End})
	}
	return groups, delimiters
}

// from is the first of spans, which are in order, that ends behind an offset; one without length if there is none.
func from(list []diffwrap.Span, off int) (s diffwrap.Span) {
	i, _ := slices.BinarySearchFunc(list, off+1, func(s diffwrap.Span, off int) int { return s.End - off })
	if i < len(list) {
		s = list[i]
	}
	return s
}

func within(s diffwrap.Span, list []diffwrap.Span) bool {
	x := from(list, s.Start)
	return x.Start <= s.Start && s.End <= x.End
}

func overlap(s diffwrap.Span, list []diffwrap.Span) bool {
	x := from(list, s.Start)
	return x.Start < s.End && s.Start < x.End
}

// outside is what spans share outside of a stretch of the second state.
func outside(spans []Span, of diffwrap.Span) (left []Span) {
	for _, s := range spans {
		if n := min(s.N, of.Start-s.B); n > 0 {
			left = append(left, Span{s.A, s.B, n})
		}
		if cut := max(0, of.End-s.B); cut < s.N {
			left = append(left, Span{s.A + cut, s.B + cut, s.N - cut})
		}
	}
	return left
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Letter, unicode.Digit, unicode.So) })
}
