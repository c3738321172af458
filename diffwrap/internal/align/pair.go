package align

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Thresholds of readability, in per cent.
const (
	// lineSimilarity is the minimum share of common text for which two lines of a changed block count as one changed
	// line.
	lineSimilarity = 40
	// markerSimilarity is the corresponding minimum for two lines with different markers. relayfs replaces such lines
	// whole.
	markerSimilarity = 80
	// lineSurvival is the minimum share of unchanged words for which many changes of a line are marked one by one.
	lineSurvival = 40
	// flowSimilarity is the minimum share of a block's words that stay in order for which the block counts as
	// rewrapped.
	flowSimilarity = 70
)

// pairGap appends the steps for the lines of a gap. It appends any other step as it is.
func pairGap(r *Comparer, out []step, o, n *lineText, s step) []step {
	switch {
	case s.kind != stepGap:
		return append(out, s)
	case s.old.Empty() || s.new.Empty():
		return append(out, step{s.old, s.new, stepReplaced})
	case s.old.Len() == 1 && s.new.Len() == 1:
		return inOrder(out, o, n, s)
	}
	old, new := wordsOfLines(o, indices(s.old)), wordsOfLines(n, indices(s.new))
	pairs, common := pairLines(old, new, o.exact)
	if wraps(r, o, n, s, common, weigh(old), weigh(new)) {
		return append(out, step{s.old, s.new, stepRewrapped})
	}
	i, j := s.old.Start, s.new.Start
	for _, p := range pairs {
		k, partner := s.old.Start+p[0], s.new.Start+p[1]
		out = inOrder(out, o, n, step{span.New(i, k), span.New(j, partner), stepGap})
		out = append(out, lineStep(k, partner, stepChanged))
		i, j = k+1, partner+1
	}
	return inOrder(out, o, n, step{span.New(i, s.old.End), span.New(j, s.new.End), stepGap})
}

// inOrder appends the steps for unrelated lines. If both sides have the same number of lines, with blank lines at the
// same positions, each new line replaces the old line at the same position, so that the marks of a line depend on that
// line alone. Blank lines that only one side has at its end are then added or deleted separately. Otherwise one step
// replaces all lines.
func inOrder(out []step, o, n *lineText, s step) []step {
	old, new := s.old, s.new
	for !old.Empty() && !new.Empty() && o.blank(old.End-1) != n.blank(new.End-1) {
		if o.blank(old.End - 1) {
			old.End--
		} else {
			new.End--
		}
	}
	alike := !old.Empty() && old.Len() == new.Len()
	for k := 0; alike && k < old.Len(); k++ {
		alike = o.blank(old.Start+k) == n.blank(new.Start+k)
	}
	if !alike {
		return append(out, step{s.old, s.new, stepReplaced})
	}
	for k := range old.Len() {
		out = append(out, lineStep(old.Start+k, new.Start+k, stepChanged))
	}
	return append(out, step{span.New(old.End, s.old.End), span.New(new.End, s.new.End), stepReplaced})
}

// lineWords has the data for the similarity of lines: the sorted words of a line, and their length in bytes.
type lineWords struct {
	text   string
	marker string
	words  []hashedWord
	weight int
}

// hashedWord represents a word: 40 bits of its FNV-1a hash, which is the same on any machine, and 24 bits for its
// length in bytes. A collision only makes lines seem more similar.
type hashedWord uint64

const (
	fnvOffset   = 14695981039346656037
	fnvPrime    = 1099511628211
	maxHashed   = 1<<24 - 1
	hashedShift = 24
)

func hashWord(s string) hashedWord {
	h := uint64(fnvOffset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return hashedWord(h<<hashedShift | uint64(min(len(s), maxHashed)))
}

func (w hashedWord) len() int { return int(w & maxHashed) }

func indices(s span.Span) []int {
	out := make([]int, s.Len())
	for k := range out {
		out[k] = s.Start + k
	}
	return out
}

func wordsOfLines(p *lineText, lines []int) []lineWords {
	out := make([]lineWords, len(lines))
	var all []hashedWord
	for k, i := range lines {
		w := &out[k]
		w.text = p.text(i)
		marker := p.marker(i)
		w.marker = marker.Of(p.Text)
		first := len(all)
		for t := range markdown.Tokens(p.Text, span.New(marker.End, p.lines[i].End), p.Comments) {
			if t.IsWord() {
				word := hashWord(t.Of(p.Text))
				all = append(all, word)
				w.weight += word.len()
			}
		}
		w.words = all[first:len(all):len(all)]
		slices.Sort(w.words)
	}
	return out
}

const maxPairs = 1 << 19

func weigh(lines []lineWords) int {
	total := 0
	for _, l := range lines {
		total += l.weight
	}
	return total
}

// pairLines pairs equal and similar old and new lines in order: as many equal lines as possible, and such that the pairs
// share as many bytes as possible. common is the number of shared bytes, plus one for each pair with equal markers. If the
// lines need more than maxPairs comparisons, pairLines pairs none.
func pairLines(old, new []lineWords, exact bool) (pairs [][2]int, common int) {
	n, m := len(old), len(new)
	if n*m > maxPairs {
		return nil, 0
	}
	best := make([]int, (n+1)*(m+1)) // best[i*(m+1)+j] is the largest number of shared bytes from lines i and j on
	shared := make([]int, n*m)
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			shared[i*m+j] = similar(old[i], new[j], exact)
			at := i*(m+1) + j
			best[at] = max(best[at+1], best[at+m+1], shared[i*m+j]+best[at+m+2])
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		at := i*(m+1) + j
		switch {
		case shared[i*m+j] > 0 && best[at] == shared[i*m+j]+best[at+m+2]:
			pairs, common = append(pairs, [2]int{i, j}), common+shared[i*m+j]%equalLines
			i, j = i+1, j+1
		case best[at] == best[at+m+1]:
			i++
		default:
			j++
		}
	}
	return pairs, common
}

// equalLines is what a pair of equal lines counts in pairLines, besides its bytes. It is more than all other lines share.
const equalLines = 1 << 40

// similar returns the total length in bytes of the words that two lines share, or 0 if they are not similar. An equal
// marker counts as one more byte, and an equal line as equalLines. If exact is set, lines into which much was typed are
// similar, too.
func similar(old, new lineWords, exact bool) int {
	if old.text == new.text {
		return equalLines + old.weight + 1
	}
	total, least := old.weight+new.weight, min(old.weight, new.weight)
	if exact {
		total = 2 * least
	}
	if 200*least < lineSimilarity*total {
		return 0
	}
	few, many, common := old.words, new.words, 0
	if len(few) > len(many) {
		few, many = many, few
	}
	for _, w := range few { // a long line is not scanned for each of many short ones
		i, found := slices.BinarySearch(many, w)
		if many = many[i:]; found {
			common, many = common+w.len(), many[1:]
		}
	}
	switch {
	case old.marker != new.marker && 200*common >= markerSimilarity*total:
		return common
	case old.marker == new.marker && 200*common >= lineSimilarity*total && common > 0:
		return common + 1
	}
	return 0
}

// wraps reports whether a block of prose was rewrapped, so that its line breaks changed more than its words. If the
// block is compared as one line, most words must stay in order, and must have at least a quarter more bytes than the
// words that paired lines share (pairedBytes). oldBytes and newBytes are the total lengths of the lines' words.
func wraps(r *Comparer, o, n *lineText, s step, pairedBytes, oldBytes, newBytes int) bool {
	if s.old.Len()+s.new.Len() < 3 || !flows(min(oldBytes, newBytes), oldBytes, newBytes) || !allProse(o, s.old) || !allProse(n, s.new) {
		return false
	}
	w := tokenScript(r, o.Side, n.Side, wholeLines(o, n, s))
	_, _, kept := w.countKept(w.all())
	return flows(kept, w.old.bytes, w.new.bytes) && 4*kept >= 5*pairedBytes
}

// flows reports whether kept, the common bytes of two blocks' words, is enough for a rewrapped block.
func flows(kept, oldBytes, newBytes int) bool {
	return 200*kept >= flowSimilarity*(oldBytes+newBytes)
}

func allProse(p *lineText, lines span.Span) bool {
	for i := lines.Start; i < lines.End; i++ {
		s := p.text(i)
		marker := s[:markdown.Marker(s)] // a paragraph's line may be indented by three spaces
		if !strings.HasPrefix("   ", marker) && !markdown.IsBlank(s) || block.IsRow(s) {
			return false
		}
	}
	return true
}
