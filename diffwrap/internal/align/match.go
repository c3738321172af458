package align

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Comparer compares texts. It holds memory that its comparisons reuse, which does not affect their results. The zero value
// is ready to use.
type Comparer struct {
	Matcher
	ids      map[string]int // IDs of lines, comments and tokens
	old, new tokens
}

// intern appends an ID to out for each text range. Equal texts have equal IDs.
func intern[T interface{ Of(text string) string }](r *Comparer, out []int, text string, list []T) []int {
	if r.ids == nil {
		r.ids = make(map[string]int, len(list))
	}
	out = slices.Grow(out, len(list))
	for _, x := range list {
		s := x.Of(text)
		id, ok := r.ids[s]
		if !ok {
			id = len(r.ids)
			r.ids[s] = id
		}
		out = append(out, id)
	}
	return out
}

// maxSimilar is the maximum product of the numbers of old and new lines that matchLines compares for their similarity.
const maxSimilar = 1 << 12

// matchLines matches equal lines: result[i] is the new line that equals old line i, or -1. It first pairs lines with text,
// and then matches the blank lines between the pairs, because all blank lines are equal. Exact treats lines without words as
// blank. Where a line is equal to several lines, the match is the one that leaves the most similar lines for the others.
func matchLines(r *Comparer, o, n *lineText) []int {
	m := lineMatcher{r, o, n, intern(r, nil, o.Text, o.lines), intern(r, nil, n.Text, n.lines), Unmatched(len(o.lines))}
	m.between(o.all(), n.all())
	r.Slide(m.oldIDs, m.newIDs, m.match)
	return m.match
}

type lineMatcher struct {
	*Comparer
	old, new       *lineText
	oldIDs, newIDs []int
	match          []int
}

// between matches two ranges of lines. If there are too many lines to compare their similarity, or no line equals several
// lines, it matches a longest common subsequence. Diff then matches the ranges between these lines, because users type in
// several lines at once.
func (m *lineMatcher) between(old, new span.Span) {
	part := func(old, new span.Span) {
		m.Part(m.oldIDs[old.Start:old.End], m.newIDs[new.Start:new.End], new.Start, m.match[old.Start:old.End])
	}
	if min(old.Len(), new.Len()) < 2 {
		part(old, new)
		return
	}
	oldFull, newFull := filled(m.old, old), filled(m.new, new)
	var pairs [][2]int
	few := len(oldFull)*len(newFull) <= maxSimilar && (m.old.typed || m.repeats(oldFull, newFull))
	if few {
		pairs, _ = pairLines(wordsOfLines(m.old, oldFull), wordsOfLines(m.new, newFull), m.old.exact)
	} else {
		for k, partner := range m.Match(pick(m.oldIDs, oldFull), pick(m.newIDs, newFull)) {
			if partner >= 0 {
				pairs = append(pairs, [2]int{k, partner})
			}
		}
	}
	rest := part
	if m.old.typed && !few && len(pairs) > 0 {
		rest = m.between
	}
	for _, p := range pairs {
		i, j := oldFull[p[0]], newFull[p[1]]
		rest(span.New(old.Start, i), span.New(new.Start, j))
		if m.oldIDs[i] == m.newIDs[j] {
			m.match[i] = j
		}
		old.Start, new.Start = i+1, j+1
	}
	rest(old, new)
}

// repeats reports whether a line equals several lines of the other side.
func (m *lineMatcher) repeats(old, new []int) bool {
	count := make(map[int][2]int, len(old))
	for _, i := range old {
		count[m.oldIDs[i]] = [2]int{count[m.oldIDs[i]][0] + 1, 0}
	}
	for _, j := range new {
		n, ok := count[m.newIDs[j]]
		if n[1]++; ok && n[0]*n[1] > 1 {
			return true
		}
		count[m.newIDs[j]] = n
	}
	return false
}

func filled(p *lineText, lines span.Span) []int {
	out := make([]int, 0, lines.Len())
	for i := lines.Start; i < lines.End; i++ {
		if p.exact && strings.ContainsFunc(p.text(i), markdown.InWord) || !p.exact && !p.blank(i) {
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
