package align

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// The thresholds of readability, in per cent.
const (
	// lineSimilarity: how much two lines of a changed block must have in common to be shown as one changed line.
	lineSimilarity = 40
	// markerSimilarity: the same for lines with different markers, which are replaced whole.
	markerSimilarity = 80
	// lineSurvival: how much of a line must survive for many changes of its words to be marked one by one.
	lineSurvival = 40
	// flowSimilarity: how much the words of a block must stay in their order for a change of its line breaks to be
	// shown as such.
	flowSimilarity = 70
)

// gap compares old lines [i0,i1) with new lines [j0,j1), none of which is equal to one of the other side in place.
func (a *aligner) gap(i0, i1, j0, j1 int) {
	switch {
	case i0 == i1 && j0 == j1:
		return
	case i0 == i1 || j0 == j1:
		a.block(i0, i1, j0, j1)
		return
	case i1-i0 == 1 && j1-j0 == 1:
		a.unpaired(i0, i1, j0, j1)
		return
	}
	old, new := a.lineWords(a.old, a.oldLines, i0, i1), a.lineWords(a.new, a.newLines, j0, j1)
	pairs, common := a.pairLines(old, new)
	if a.reflow(i0, i1, j0, j1, common, weigh(old), weigh(new)) {
		return
	}
	i, j := i0, j0
	for _, p := range pairs {
		a.unpaired(i, i0+p[0], j, j0+p[1])
		a.changeLine(i0+p[0], j0+p[1])
		i, j = i0+p[0]+1, j0+p[1]+1
	}
	a.unpaired(i, i1, j, j1)
}

// unpaired compares lines that have nothing to do with one another: as many on either side replace one another in
// order, so that the marks of a line depend on that line alone; otherwise the whole block is replaced. Blank lines at
// the end that only one side has come or go by themselves.
func (a *aligner) unpaired(i0, i1, j0, j1 int) {
	i2, j2 := i1, j1
	for i1 > i0 && j1 > j0 && a.oldBlank(i1-1) != a.newBlank(j1-1) {
		if a.oldBlank(i1 - 1) {
			i1--
		} else {
			j1--
		}
	}
	alike := i1 > i0 && i1-i0 == j1-j0
	for k := 0; alike && k < i1-i0; k++ {
		alike = a.oldBlank(i0+k) == a.newBlank(j0+k)
	}
	if !alike {
		a.block(i0, i2, j0, j2)
		return
	}
	for k := range i1 - i0 {
		a.changeLine(i0+k, j0+k)
	}
	a.block(i1, i2, j1, j2)
}

func (a *aligner) oldBlank(i int) bool { return markdown.IsBlank(a.oldLines[i].Of(a.old.Text)) }
func (a *aligner) newBlank(j int) bool { return markdown.IsBlank(a.newLines[j].Of(a.new.Text)) }

// changeLine compares two lines that are taken for versions of one another.
func (a *aligner) changeLine(i, j int) {
	old, new := a.oldLines[i].Span, a.newLines[j].Span
	if a.exact {
		a.keep(i, j)
		a.words(old, new, 0)
		return
	}
	oldMarker, newMarker := a.marker(a.old, a.oldLines, i), a.marker(a.new, a.newLines, j)
	if oldMarker.Of(a.old.Text) != newMarker.Of(a.new.Text) {
		a.replaceLine(i, j)
		return
	}
	old.Start, new.Start = oldMarker.End, newMarker.End
	oldCells, newCells := cells(a.old, old), cells(a.new, new)
	if len(oldCells) == len(newCells) {
		a.keep(i, j)
		for k := range oldCells {
			a.words(oldCells[k], newCells[k], lineSurvival)
		}
		return
	}
	if markdown.IsRow(old.Of(a.old.Text)) || markdown.IsRow(new.Of(a.new.Text)) {
		a.replaceLine(i, j)
		return
	}
	a.keep(i, j)
	a.words(old, new, lineSurvival)
}

func (a *aligner) replaceLine(i, j int) {
	oldBreak, newBreak := a.breaks(i, j)
	h := Hunk{span.New(oldBreak.Start, a.oldLines[i].End), span.New(newBreak.Start, a.newLines[j].End)}
	if n := len(a.hunks); n > 0 && i > 0 && j > 0 && a.renumbers(i, j) && a.renumbers(i-1, j-1) &&
		a.hunks[n-1].Old.End == h.Old.Start && a.hunks[n-1].New.End == h.New.Start {
		a.hunks[n-1] = a.hunks[n-1].Through(h) // one list, numbered anew
		return
	}
	a.change(h.Old, h.New)
}

// renumbers reports whether two lines are one item of a list, with different numbers.
func (a *aligner) renumbers(i, j int) bool {
	old, oldRest := cutNumber(a.oldLines[i].Of(a.old.Text))
	new, newRest := cutNumber(a.newLines[j].Of(a.new.Text))
	return old != "" && new != "" && old != new && oldRest == newRest
}

func cutNumber(s string) (number, rest string) {
	indent := markdown.Skip(s, 0, " \t>")
	digits := markdown.Skip(s, indent, "0123456789")
	return s[indent:digits], s[:indent] + s[digits:]
}

func (a *aligner) marker(s Side, lines []line, i int) span.Span {
	l := lines[i]
	if a.fragment && i == 0 {
		return span.New(l.Start, l.Start)
	}
	m := span.New(l.Start, l.Start+markdown.Marker(l.Of(s.Text)))
	if c, ok := markdown.NextComment(s.Comments, m.Start); ok && c.Start < m.End {
		m.End = c.Start
	}
	return m
}

// cells splits a line at the pipes that separate cells, so that no change crosses one. A line that is no row has one
// cell.
func cells(s Side, line span.Span) []span.Span {
	if strings.IndexByte(line.Of(s.Text), '|') < 0 {
		return []span.Span{line}
	}
	var out []span.Span
	start := line.Start
	for t := range markdown.Tokens(s.Text, line, s.Comments) {
		if t.Of(s.Text) == "|" {
			out = append(out, span.New(start, t.Start))
			start = t.End
		}
	}
	return append(out, span.New(start, line.End))
}

// lineWords is what the similarity of lines is measured by: the words of a line, sorted, and their length in bytes.
type lineWords struct {
	marker string
	words  []hashedWord
	weight int
}

// hashedWord stands for a word: 48 bits of its FNV-1a hash, which is the same on any machine, and 16 of its length in
// bytes. Two different words that are the same here make lines seem more alike, and do no other harm.
type hashedWord uint64

const (
	fnvOffset   = 14695981039346656037
	fnvPrime    = 1099511628211
	maxHashed   = 1<<16 - 1
	hashedShift = 16
)

func hashWord(s string) hashedWord {
	h := uint64(fnvOffset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return hashedWord(h<<hashedShift | uint64(min(len(s), maxHashed)))
}

func (w hashedWord) len() int { return int(w & maxHashed) }

func (a *aligner) lineWords(s Side, lines []line, from, to int) []lineWords {
	out := make([]lineWords, to-from)
	all := make([]hashedWord, 0, linesSpan(lines, from, to).Len()/5+4)
	for k := range out {
		w := &out[k]
		marker := a.marker(s, lines, from+k)
		w.marker = marker.Of(s.Text)
		text := span.New(marker.End, lines[from+k].End)
		first := len(all)
		for t := range markdown.Tokens(s.Text, text, s.Comments) {
			if t.IsWord() {
				word := hashWord(t.Of(s.Text))
				all = append(all, word)
				w.weight += word.len()
			}
		}
		w.words = all[first:len(all):len(all)]
		slices.Sort(w.words)
	}
	return out
}

// maxPairs bounds the pairs of lines of one block that are compared for similarity.
const maxPairs = 1 << 19

func weigh(lines []lineWords) int {
	total := 0
	for _, l := range lines {
		total += l.weight
	}
	return total
}

// pairLines pairs the similar ones of old and new lines, in order, so that the pairs have as much text in common as
// possible; it returns the pairs and how many bytes that is.
func (a *aligner) pairLines(old, new []lineWords) (pairs [][2]int, common int) {
	n, m := len(old), len(new)
	if n*m > maxPairs {
		return nil, 0
	}
	best := make([]int, (n+1)*(m+1)) // best[i*(m+1)+j]: the most bytes in common from lines i and j on
	shared := make([]int, n*m)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			shared[i*m+j] = similar(old[i], new[j])
			at := i*(m+1) + j
			best[at] = max(best[at+1], best[at+m+1], shared[i*m+j]+best[at+m+2])
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		at := i*(m+1) + j
		switch {
		case shared[i*m+j] > 0 && best[at] == shared[i*m+j]+best[at+m+2]:
			pairs = append(pairs, [2]int{i, j})
			i, j = i+1, j+1
		case best[at] == best[at+m+1]:
			i++
		default:
			j++
		}
	}
	return pairs, best[0]
}

// similar returns how many bytes of words two lines have in common, 0 when that is too little to call them similar. An
// equal marker counts as a byte more.
func similar(old, new lineWords) int {
	if 200*min(old.weight, new.weight) < lineSimilarity*(old.weight+new.weight) {
		return 0 // a long line is not looked through for each of many short ones
	}
	common := 0
	for i, j := 0, 0; i < len(old.words) && j < len(new.words); {
		switch o, n := old.words[i], new.words[j]; {
		case o < n:
			i++
		case o > n:
			j++
		default:
			common += o.len()
			i, j = i+1, j+1
		}
	}
	switch total := old.weight + new.weight; {
	case old.marker != new.marker && 200*common >= markerSimilarity*total:
		return common
	case old.marker == new.marker && 200*common >= lineSimilarity*total && common > 0:
		return common + 1
	}
	return 0
}

// reflow handles a block of prose in which the line breaks changed more than the words: a paragraph that was split,
// joined or wrapped anew. It compares the block as one line, and does nothing unless most words stay in order, and
// clearly more of them than stay in paired lines (pairedBytes). The lines have words of oldBytes and newBytes.
func (a *aligner) reflow(i0, i1, j0, j1, pairedBytes, oldBytes, newBytes int) bool {
	if i1-i0+j1-j0 < 3 || !flows(min(oldBytes, newBytes), oldBytes, newBytes) || !allProse(a.old.Text, a.oldLines[i0:i1]) || !allProse(a.new.Text, a.newLines[j0:j1]) {
		return false
	}
	old, new := a.gapSpans(i0, i1, j0, j1)
	o, n := a.interned(old, new)
	_, kept := o.kept(a.matcher.Match(o.ids, n.ids))
	if !flows(kept, o.bytes, n.bytes) || 4*kept < 5*pairedBytes {
		return false
	}
	a.words(old, new, 0)
	return true
}

// flows reports whether two blocks whose words have so many bytes, of which kept are common, can be one that was
// wrapped anew.
func flows(kept, oldBytes, newBytes int) bool {
	return 200*kept >= flowSimilarity*(oldBytes+newBytes)
}

func allProse(text string, lines []line) bool {
	for _, l := range lines {
		if s := l.Of(text); markdown.Marker(s) > 0 && !markdown.IsBlank(s) || markdown.IsRow(s) {
			return false
		}
	}
	return true
}
