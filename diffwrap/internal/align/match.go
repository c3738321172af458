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

// matchLines matches equal lines: result[i] is the new line that equals old line i, or -1. It first matches lines with
// text, and then the blank lines between them, because all blank lines are equal. Exact matches lines without words in this
// way. Diff matches them only between similar lines (pairLines), because users type in several lines at once.
func matchLines(r *Comparer, o, n *lineText) []int {
	old, new := intern(r, nil, o.Text, o.lines), intern(r, nil, n.Text, n.lines)
	oldFull, newFull := filled(o), filled(n)
	match := Unmatched(len(old))
	for k, partner := range r.Match(pick(old, oldFull), pick(new, newFull)) {
		if partner >= 0 {
			match[oldFull[k]] = newFull[partner]
		}
	}
	i, j := 0, 0
	restTo := func(k, partner int) {
		r.Part(old[i:k], new[j:partner], j, match[i:k])
		i, j = k+1, partner+1
	}
	for k, partner := range slices.Concat(match, []int{len(new)}) {
		if partner < 0 {
			continue
		}
		if o.typed && k-i > 1 && partner-j > 1 {
			gap := [2]int{i, j}
			pairs, _ := pairLines(wordsOfLines(o, span.New(i, k)), wordsOfLines(n, span.New(j, partner)), true)
			for _, p := range pairs {
				restTo(gap[0]+p[0], gap[1]+p[1])
			}
		}
		restTo(k, partner)
	}
	r.Slide(old, new, match)
	return match
}

func filled(p *lineText) []int {
	out := make([]int, 0, len(p.lines))
	for i := range p.lines {
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
