// Package align compares two texts: lines before words, and words before characters. Comments are whole to it; other
// CriticMarkup means nothing here.
package align

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/lcs"
	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Hunk is one place where two texts differ: Old of the old text became New of the new one. What lies between hunks is equal.
// Hunks are sorted; two that touch are to be shown as two changes.
type Hunk struct{ Old, New span.Span }

// Shift is the hunk by so many bytes further on in both texts.
func (h Hunk) Shift(by int) Hunk { return Hunk{h.Old.Shift(by), h.New.Shift(by)} }

// Through is the hunk from one to another one after it.
func (h Hunk) Through(last Hunk) Hunk {
	return Hunk{span.New(h.Old.Start, last.Old.End), span.New(h.New.Start, last.New.End)}
}

// Grow is the hunk with so many equal bytes before and behind it.
func (h Hunk) Grow(before, behind int) Hunk {
	return Hunk{span.New(h.Old.Start-before, h.Old.End+behind), span.New(h.New.Start-before, h.New.End+behind)}
}

// Side is one of the two texts of a comparison.
type Side struct {
	Text     string
	Comments []span.Span // whole CriticMarkup comments in it, which are never cut
}

// Exact prefers the smallest change.
func Exact(old, new Side) []Hunk {
	a := aligner{old: old, new: new, exact: true}
	return a.align()
}

// Readable follows the rules of readability (words.go, line.go), which prefer one change that can be read to several that
// cannot, and keeps the given pairs of comments wherever they were moved. A fragment does not start at the start of a line,
// so that its first line has no marker.
func Readable(old, new Side, fragment bool, pairs []Hunk) []Hunk {
	a := aligner{old: old, new: new, fragment: fragment}
	return a.alignAround(pairs)
}

// aligner compares two texts, first line by line, then word by word inside the lines that were paired.
type aligner struct {
	old, new           Side
	exact, fragment    bool // see Exact and Readable
	oldLines, newLines []line
	ids                map[string]int // interned lines and tokens
	matcher            lcs.Matcher
	oldToks, newToks   tokens // the room that interned needs
	hunks              []Hunk
}

func (a *aligner) align() []Hunk {
	switch {
	case a.old.Text == a.new.Text:
		return nil
	case a.old.Text == "" || a.new.Text == "":
		a.oldLines = splitLines(a.old.Text, 0, len(a.old.Text), a.old.Comments)
		a.newLines = splitLines(a.new.Text, 0, len(a.new.Text), a.new.Comments)
		a.findFences()
		a.block(0, len(a.oldLines), 0, len(a.newLines))
		return a.hunks
	}
	oldEnd, newEnd := a.withoutFinalBreak()
	head := a.commonHead(oldEnd, newEnd)
	tail := a.commonTail(span.New(head, oldEnd), span.New(head, newEnd))
	a.oldLines = splitLines(a.old.Text, head, oldEnd-tail, a.old.Comments)
	a.newLines = splitLines(a.new.Text, head, newEnd-tail, a.new.Comments)
	a.findFences()
	a.fragment = a.fragment && head == 0
	a.ids = make(map[string]int, len(a.oldLines)+len(a.newLines))
	a.walk(a.matchLines())
	return a.hunks
}

func (a *aligner) findFences() {
	if !a.exact {
		findFences(a.old.Text, a.oldLines)
		findFences(a.new.Text, a.newLines)
	}
}

// matchLines matches equal lines: result[i] is the new line that old line i stays, or -1. Lines with text are matched
// first, blank ones between them, since a blank line says nothing about where it belongs.
func (a *aligner) matchLines() []int {
	old, new := internAll(a, nil, a.old.Text, a.oldLines), internAll(a, nil, a.new.Text, a.newLines)
	oldFull, newFull := filled(a.old.Text, a.oldLines), filled(a.new.Text, a.newLines)
	match := lcs.Unmatched(len(old))
	for k, partner := range a.matcher.Match(pick(old, oldFull), pick(new, newFull)) {
		if partner >= 0 {
			match[oldFull[k]] = newFull[partner]
		}
	}
	i, j := 0, 0
	for k, partner := range append(slices.Clone(match), len(new)) {
		if partner >= 0 {
			a.matcher.Part(old[i:k], new[j:partner], j, match[i:k])
			i, j = k+1, partner+1
		}
	}
	a.matcher.Slide(old, new, match)
	return match
}

func filled(text string, lines []line) []int {
	var out []int
	for i, l := range lines {
		if !markdown.IsBlank(l.Of(text)) {
			out = append(out, i)
		}
	}
	return out
}

func pick(tokens, indices []int) []int {
	out := make([]int, len(indices))
	for k, i := range indices {
		out[k] = tokens[i]
	}
	return out
}

// internAll numbers stretches of text. The numbers are appended to out.
func internAll[T interface{ Of(text string) string }](a *aligner, out []int, text string, list []T) []int {
	out = slices.Grow(out, len(list))
	for _, x := range list {
		s := x.Of(text)
		id, ok := a.ids[s]
		if !ok {
			id = len(a.ids)
			a.ids[s] = id
		}
		out = append(out, id)
	}
	return out
}

// walk goes from matched line to matched line and compares what lies between. Blank lines are matched after the others and
// are given up for a comment.
func (a *aligner) walk(match []int) {
	i, j := 0, 0
	for k, partner := range match {
		if partner >= 0 && !a.oldBlank(k) {
			a.stretch(match, i, k, j, partner)
			a.keep(k, partner)
			i, j = k+1, partner+1
		}
	}
	a.stretch(match, i, len(a.oldLines), j, len(a.newLines))
}

// gaps does the same for old lines [i0,i1) and new lines [j0,j1), from blank line to blank line.
func (a *aligner) gaps(match []int, i0, i1, j0, j1 int) {
	for k := i0; k < i1; k++ {
		if partner := match[k]; partner >= 0 {
			a.gap(i0, k, j0, partner)
			a.keep(k, partner)
			i0, j0 = k+1, partner+1
		}
	}
	a.gap(i0, i1, j0, j1)
}

// keep passes over a pair of lines with equal texts, whose line breaks may differ.
func (a *aligner) keep(i, j int) {
	oldBreak, newBreak := a.breaks(i, j)
	if oldBreak.Of(a.old.Text) != newBreak.Of(a.new.Text) {
		a.change(oldBreak, newBreak)
	}
}

// breaks returns the line breaks before old line i and new line j that face each other. The first line of a text has
// none; a line that faces the first line gives its break to the gap before it.
func (a *aligner) breaks(i, j int) (oldBreak, newBreak span.Span) {
	o, n := a.oldLines[i], a.newLines[j]
	if i == 0 || j == 0 {
		return span.New(o.Start, o.Start), span.New(n.Start, n.Start)
	}
	return span.New(o.brk, o.Start), span.New(n.brk, n.Start)
}

// gapSpans returns the texts of old lines [i0,i1) and new lines [j0,j1), each with the break before it. The first line
// of one side has none; a gap before it on the other side takes the break after the gap.
func (a *aligner) gapSpans(i0, i1, j0, j1 int) (old, new span.Span) {
	if a.onTop(i0, i1, j1) {
		return span.New(a.oldLines[0].Start, a.oldLines[i1].Start), span.New(a.newLines[0].Start, a.newLines[j1].Start)
	}
	return linesSpan(a.oldLines, i0, i1), linesSpan(a.newLines, j0, j1)
}

// onTop reports whether the gap that starts at old line i0 is one before the first line of one side, which stays.
func (a *aligner) onTop(i0, i1, j1 int) bool {
	return i0 == 0 && (i1 == 0 || j1 == 0) && i1 < len(a.oldLines) && j1 < len(a.newLines)
}

func linesSpan(lines []line, from, to int) span.Span {
	if from == to {
		at := lines[len(lines)-1].End
		if from < len(lines) {
			at = lines[from].brk
		}
		return span.New(at, at)
	}
	return span.New(lines[from].brk, lines[to-1].End)
}

func (a *aligner) change(old, new span.Span) {
	if a.exact {
		old, new = trimClusters(a.old.Text, a.new.Text, old, new)
	}
	if !old.Empty() || !new.Empty() {
		a.hunks = append(a.hunks, Hunk{old, new})
	}
}

// withoutFinalBreak returns the ends of both texts, before the line break with which both end, if they do: what is
// appended to a text then goes before its final break, and the stored text still ends with one.
func (a *aligner) withoutFinalBreak() (oldEnd, newEnd int) {
	old, new := a.old.Text, a.new.Text
	if !strings.HasSuffix(old, "\n") || !strings.HasSuffix(new, "\n") {
		return len(old), len(new)
	}
	o, n := linebreak.Start(old, len(old)-1, 0), linebreak.Start(new, len(new)-1, 0)
	if old[o:] != new[n:] || InComment(a.old.Comments, o) || InComment(a.new.Comments, n) {
		return len(old), len(new)
	}
	return o, n
}

// commonHead returns the length of the common start of both texts, up to the end of a line.
func (a *aligner) commonHead(oldEnd, newEnd int) int {
	head := lcs.Prefix(a.old.Text[:oldEnd], a.new.Text[:newEnd])
	if atLineEnd(a.old.Text[:oldEnd], head) && atLineEnd(a.new.Text[:newEnd], head) && !a.cutsComment(head, head) {
		return head
	}
	for head > 0 {
		head = strings.LastIndexByte(a.old.Text[:head], '\n')
		if head < 0 {
			return 0
		}
		if head = linebreak.Start(a.old.Text, head, 0); !a.cutsComment(head, head) {
			return head
		}
	}
	return 0
}

func atLineEnd(text string, i int) bool {
	if strings.HasSuffix(text[:i], "\r") && strings.HasPrefix(text[i:], "\n") {
		return false
	}
	return i == len(text) || linebreak.Len(text[i:]) > 0
}

// commonTail returns the length of the common end of old.of(oldText) and new.of(newText), from a line break on.
func (a *aligner) commonTail(old, new span.Span) int {
	o, n := old.Of(a.old.Text), new.Of(a.new.Text)
	tail := lcs.Suffix(o, n)
	for from := 0; ; {
		at := strings.IndexByte(o[len(o)-tail+from:], '\n')
		if at < 0 {
			return 0
		}
		feed := from + at // the line feed, counted from the start of the common end
		from = feed + 1
		oldAt, newAt := len(o)-tail+feed, len(n)-tail+feed
		oldBreak, newBreak := linebreak.Start(o, oldAt, 0), linebreak.Start(n, newAt, 0)
		if oldAt-oldBreak != newAt-newBreak || a.cutsComment(old.Start+oldBreak, new.Start+newBreak) {
			continue
		}
		return len(o) - oldBreak
	}
}

// cutsComment reports whether a border at these offsets lies inside a comment on either side.
func (a *aligner) cutsComment(old, new int) bool {
	return InComment(a.old.Comments, old) || InComment(a.new.Comments, new)
}

// InComment reports whether an offset lies inside of a comment.
func InComment(comments []span.Span, off int) bool {
	c, ok := atomAround(comments, off)
	return ok && c.Start < off
}
