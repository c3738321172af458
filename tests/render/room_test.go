package render

import (
	"hash/maphash"
	"slices"
	"strings"
)

// stretch is what lies between two blocks that stay, in the original and in the accepted text.
type stretch struct{ before, after string }

// replaced lists the stretch with one replacement in it, which leaves line breaks at both ends out.
func (s stretch) replaced() (out []string) {
	if s.before == s.after {
		return []string{s.before}
	}
	for head := 0; ; head++ {
		for tail := 0; head+tail <= min(len(s.before), len(s.after)); tail++ {
			if tail > 0 && (s.before[len(s.before)-tail] != '\n' || s.after[len(s.after)-tail] != '\n') {
				break
			}
			text := s.before[:head]
			if deleted := s.before[head : len(s.before)-tail]; deleted != "" {
				text += "{--" + deleted + "--}"
			}
			if added := s.after[head : len(s.after)-tail]; added != "" {
				text += "{++" + added + "++}"
			}
			out = append(out, text+s.before[len(s.before)-tail:])
		}
		if head >= min(len(s.before), len(s.after)) || s.before[head] != '\n' || s.after[head] != '\n' {
			return out
		}
	}
}

// withHidden is a page with the lines that show nothing, such as definitions of links, as blocks of their own.
func (p page) withHidden() page {
	var all []block
	hidden := func(to int) {
		from := 0
		if len(all) > 0 {
			from = all[len(all)-1].to
		}
		for i := from; i < min(to, len(p.lines)); i++ {
			if !isBlank(p.lines[i]) {
				b := block{kind: "hidden", from: i, to: i + 1, look: p.lines[i]}
				b.source = maphash.String(seed, p.source(b))
				all = append(all, b)
			}
		}
	}
	for _, b := range p.blocks {
		hidden(b.from)
		all = append(all, b)
	}
	hidden(len(p.lines))
	p.blocks = all
	return p
}

// bounds are the ends of a block in the text of its page, without blank lines at its end.
func (p page) bounds(b block) (from, to int) {
	for _, line := range p.lines[:b.from] {
		from += len(line) + 1
	}
	return from, from + len(p.source(b))
}

// stretches cuts two pages at the blocks that stay; kept[i] stands between the stretches i and i+1.
func stretches(original, accepted page, stay []block) (list []stretch, kept []string) {
	before, after := strings.Join(original.lines, "\n"), strings.Join(accepted.lines, "\n")
	i, j, from, fromAfter := 0, 0, 0, 0
	if a, b := original.blocks, accepted.blocks; len(a) > 0 && len(b) > 0 && a[0].kind == "front matter" && b[0].kind == a[0].kind && a[0].source != b[0].source {
		_, from = original.bounds(a[0])
		_, fromAfter = accepted.bounds(b[0])
		list, kept = []stretch{{}}, []string{after[:fromAfter]} // it is written at once, without marks
	}
	for _, b := range stay {
		for original.blocks[i] != b {
			i++
		}
		for !same(accepted.blocks[j], b) {
			j++
		}
		start, end := original.bounds(original.blocks[i])
		startAfter, endAfter := accepted.bounds(accepted.blocks[j])
		if start < from || startAfter < fromAfter {
			continue // blocks of a page can lie within others
		}
		list = append(list, stretch{before[from:start], after[fromAfter:startAfter]})
		kept = append(kept, before[start:end])
		i, j, from, fromAfter = i+1, j+1, end, endAfter
	}
	return append(list, stretch{before[from:], after[fromAfter:]}), kept
}

// boxedIn reports whether no replacement of what changed as a whole leaves all blocks that stay standing.
func (r *renderer) boxedIn(original, accepted page) (bool, error) {
	before, after := original.withHidden(), accepted.withHidden()
	list, kept := stretches(before, after, common(before.blocks, after.blocks, same))
	whole := func(pick func(k int) string) string {
		var b strings.Builder
		for k := range list {
			b.WriteString(pick(k))
			if k < len(kept) {
				b.WriteString(kept[k])
			}
		}
		return b.String()
	}
	rendered := func(texts ...string) ([]page, error) {
		pages, err := r.pages(texts, func(int) bool { return false })
		for i := range pages {
			pages[i] = pages[i].withHidden()
		}
		return pages, err
	}
	// Each stretch alone, then all that were found together. The front matter is the new one in all texts.
	best := make([]string, len(list))
	for k, s := range list {
		best[k] = s.before
	}
	start := whole(func(k int) string { return list[k].before })
	for k, s := range list {
		if s.before == s.after {
			continue
		}
		at := func(text string) string {
			return whole(func(i int) string {
				if i == k {
					return text
				}
				return list[i].before
			})
		}
		texts := []string{start, at(s.after)}
		tries := s.replaced()
		for _, text := range tries {
			texts = append(texts, at(text))
		}
		pages, err := rendered(texts...)
		if err != nil {
			return false, err
		}
		found := slices.IndexFunc(pages[2:], func(p page) bool { return compare(pages[0], pages[1], p, strings.Join(p.lines, "\n")).stands() })
		if found < 0 {
			return true, nil
		}
		best[k] = tries[found]
	}
	pending := whole(func(k int) string { return best[k] })
	pages, err := rendered(start, strings.Join(accepted.lines, "\n"), pending)
	if err != nil {
		return false, err
	}
	return !compare(pages[0], pages[1], pages[2], pending).stands(), nil
}
