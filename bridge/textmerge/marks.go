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
	marks, text, _ := diffwrap.Everything.Layout(after)
	shared := kept
	var renewed []diffwrap.Span
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
			renewed = append(renewed, m.Span)
		}
	}
	if len(renewed) == 0 {
		return edits
	}
	return scriptOf(outside(shared, renewed), before, after)
}

// wholeComments moves what a script only puts somewhere, or only takes away, out of the comments
// that stay, where it makes the same text there: of two comments that touch, the one that stays
// keeps its own delimiters.
func wholeComments(before, after string, edits []diffwrap.Edit) []diffwrap.Edit {
	if !strings.Contains(before, "{>>") || !strings.Contains(after, "{>>") {
		return edits
	}
	was, is := diffwrap.Everything.Comments(before), diffwrap.Everything.Comments(after)
	end, shift := -1, 0 // of the edits before
	for i := range edits {
		e := &edits[i]
		next := len(before) + 1
		if i+1 < len(edits) {
			next = edits[i+1].Off
		}
		changed := e.New + before[e.Off:e.Off+e.Len] // one of the two
		var head, tail string                        // of the comment that it is in
		switch {
		case e.Len == 0:
			head, tail = commentAround(before, was, e.Off)
		case e.New == "":
			head, tail = commentAround(after, is, e.Off+shift)
		}
		by := 0
		if len(head) < e.Off-end && strings.HasSuffix(head+changed, head) {
			by = -len(head)
		} else if len(tail) < next-e.Off-e.Len && strings.HasPrefix(changed+tail, tail) {
			by = len(tail)
		}
		if e.Off += by; e.Len == 0 {
			e.New = (head + changed + tail)[len(head)+by:][:len(changed)]
		}
		end = e.Off + e.Len
		shift += len(e.New) - e.Len
	}
	return edits
}

// commentAround is the comment of a text that an offset lies inside of, in two parts.
func commentAround(text string, comments []diffwrap.Suggestion, off int) (head, tail string) {
	i, _ := slices.BinarySearchFunc(comments, off+1, func(c diffwrap.Suggestion, off int) int { return c.End - off })
	if i == len(comments) || comments[i].Start >= off {
		return "", ""
	}
	return text[comments[i].Start:off], text[off:comments[i].End]
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
	marks, text, _ := diffwrap.Everything.Layout(raw)
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

// outside is what spans share outside of stretches of the second state, which are in order and do not overlap.
func outside(spans []Span, of []diffwrap.Span) (left []Span) {
	for _, s := range spans {
		for len(of) > 0 && of[0].End <= s.B {
			of = of[1:]
		}
		for i := 0; i < len(of) && of[i].Start < s.B+s.N; i++ {
			if n := of[i].Start - s.B; n > 0 {
				left = append(left, Span{s.A, s.B, n})
			}
			cut := min(s.N, of[i].End-s.B)
			s = Span{s.A + cut, s.B + cut, s.N - cut}
		}
		if s.N > 0 {
			left = append(left, s)
		}
	}
	return left
}

func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Letter, unicode.Digit, unicode.So) })
}
