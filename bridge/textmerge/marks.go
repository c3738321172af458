package textmerge

import (
	"strings"
	"unicode"

	"github.com/relayfs/relayfs/diffwrap"
)

// betweenMarks lets a script of raw text that takes marks away, or puts some there, do so
// from the brace that opens the first: of two marks that touch, delimiters and letters with
// which both begin are those of the one that stays.
func betweenMarks(text string, edits []diffwrap.Edit) []diffwrap.Edit {
	start := 0 // of what no edit before changes
	for i := range edits {
		e := &edits[i]
		changed := e.New + text[e.Off:e.Off+e.Len]
		if e.Len == 0 || e.New == "" {
			for k := 0; k < len(changed) && k <= e.Off-start && strings.HasSuffix(text[start:e.Off], changed[len(changed)-k:]); k++ {
				moved := changed[len(changed)-k:] + changed[:len(changed)-k]
				if opensMark(moved) && strings.HasSuffix(moved, "}") {
					if e.Off -= k; e.Len == 0 {
						e.New = moved
					}
					break
				}
			}
		}
		start = e.Off + e.Len
	}
	return edits
}

func opensMark(s string) bool {
	return strings.HasPrefix(s, "{++") || strings.HasPrefix(s, "{--") || strings.HasPrefix(s, "{~~")
}

// wholeMarks lets a script of raw text write a mark as a whole if it takes text away where
// the mark stands, puts words there, and leaves none: the writer has put that mark in the
// place of another. Else what both have in common, delimiters and breaks, would be
// taken for text that the writer kept, and the new words for some typed into the old mark.
func wholeMarks(before, after string, edits []diffwrap.Edit) []diffwrap.Edit {
	if len(edits) == 0 || !strings.Contains(before, "{++") && !strings.Contains(before, "{--") && !strings.Contains(before, "{~~") {
		return edits
	}
	starts, moved := make([]int, len(edits)), 0 // in after
	for i, e := range edits {
		starts[i] = e.Off + moved
		moved += len(e.New) - e.Len
	}
	kept := Kept(len(before), edits)
	marks, text, _ := diffwrap.Layout(after)
	renewed := false
	i, t := 0, 0
	for k, m := range marks {
		for i < len(edits) && starts[i]+len(edits[i].New) <= m.Start {
			i++
		}
		var takes, types, keeps bool
		for j := i; j < len(edits) && starts[j] < m.End; j++ {
			takes = takes || strings.TrimSpace(before[edits[j].Off:edits[j].Off+edits[j].Len]) != ""
		}
		for ; t < len(text) && text[t].Start < m.End; t++ {
			if text[t].Mark != k {
				continue
			}
			at := text[t].Start
			for j := i; j < len(edits) && starts[j] < text[t].End; j++ {
				from, to := max(at, starts[j]), min(starts[j]+len(edits[j].New), text[t].End)
				keeps = keeps || hasWord(after[at:from])
				if from < to {
					types = types || hasWord(after[from:to])
					at = to
				} else {
					at = from
				}
			}
			keeps = keeps || hasWord(after[at:text[t].End])
		}
		if takes && types && !keeps {
			kept, renewed = outside(kept, m.Span), true
		}
	}
	if !renewed {
		return edits
	}
	return scriptOf(kept, before, after)
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
