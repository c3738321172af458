// Package placement decides where marks begin and end, so that a page with pending changes still looks like the page. A run that
// adds or takes lines can begin in several places and mean the same; a mark that touches a heading, a fence or a table makes
// something else of it, or of all that follows. Of the places that a change can have, the one that breaks the fewest blocks is
// taken; among those the one that the table of lines (lines.go) likes best.
package placement

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/lcs"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Hunks moves and widens the hunks between two texts, which are whole blocks.
func Hunks(old, new align.Side, hunks []align.Hunk) []align.Hunk {
	if len(hunks) == 0 {
		return hunks
	}
	p := newPage(old, new, hunks)
	for k, h := range hunks {
		hunks[k] = p.preferred(h, between(hunks, k, len(old.Text)))
	}
	hunks, best := p.settle(hunks)
	for _, r := range []reach{{}, {behind: 1}, {before: 1}, {1, 1}} {
		for joined := range p.joined(hunks, r) {
			if best.broken == 0 || p.work < 0 {
				return hunks
			}
			if joined, c := p.settle(joined); c.less(best) {
				hunks, best = joined, c
			}
		}
	}
	return hunks
}

// reach is how many blocks that stay a joined hunk takes in on either side.
type reach struct{ before, behind int }

// between is where a hunk may stand: behind the one before it and before the next one.
func between(hunks []align.Hunk, k, size int) span.Span {
	limit := span.New(0, size)
	if k > 0 {
		limit.Start = hunks[k-1].Old.End
	}
	if k+1 < len(hunks) {
		limit.End = hunks[k+1].Old.Start
	}
	return limit
}

// page is what a pending page is judged by.
type page struct {
	old, new             align.Side
	oldBlocks, newBlocks []block.Block
	match                []int // of old blocks with the new ones that are the same
	constructs           [block.Kinds]int
	work                 int // how many bytes of pending pages may still be looked at
}

func newPage(old, new align.Side, hunks []align.Hunk) *page {
	p := &page{old: old, new: new, oldBlocks: block.Scan(old.Text), newBlocks: block.Scan(new.Text),
		work: minWork + maxPages*(len(old.Text)+len(new.Text))}
	p.match = p.stay(hunks)
	o, n := tally(p.oldBlocks), tally(p.newBlocks)
	for _, k := range []block.Kind{block.Table, block.Code, block.Math, block.Callout, block.HTML, block.Comment} {
		p.constructs[k] = min(o[k], n[k])
	}
	return p
}

// The work that is done for one comparison is bounded; hunks for which nothing is left stay where they are.
const (
	minWork  = 1 << 19 // bytes
	maxPages = 4       // of the size of both texts
)

// maxPairs bounds how many pairs of blocks are compared.
const maxPairs = 1 << 16

// stay finds the blocks that stay: of those that both texts have in one order, the ones with the most text, and rather those that no
// hunk touches. What stays beyond maxPairs is not looked for.
func (p *page) stay(hunks []align.Hunk) []int {
	match := lcs.Unmatched(len(p.oldBlocks))
	same := func(i, j int) bool { return p.oldBlocks[i].Of(p.old.Text) == p.newBlocks[j].Of(p.new.Text) }
	head, n, m := 0, len(p.oldBlocks), len(p.newBlocks)
	for head < n && head < m && same(head, head) {
		match[head] = head
		head++
	}
	for n > head && m > head && same(n-1, m-1) {
		n, m = n-1, m-1
		match[n] = m
	}
	rows, columns := n-head, m-head
	if rows*columns > maxPairs {
		return match
	}
	weight := func(i int) int {
		b := p.oldBlocks[i]
		k, _ := slices.BinarySearchFunc(hunks, b.Start, func(h align.Hunk, at int) int { return cmp.Or(cmp.Compare(h.Old.End, at), -1) })
		touched := k < len(hunks) && hunks[k].Old.Start < b.End
		w := 4 * (2 + strings.Count(b.Of(p.old.Text), "\n"))
		if touched {
			return w
		}
		return w + 1
	}
	best := make([]int, (rows+1)*(columns+1))
	at := func(i, j int) *int { return &best[(i-head)*(columns+1)+j-head] }
	for i := n - 1; i >= head; i-- {
		w := weight(i)
		for j := m - 1; j >= head; j-- {
			*at(i, j) = max(*at(i+1, j), *at(i, j+1))
			if same(i, j) {
				*at(i, j) = max(*at(i, j), w+*at(i+1, j+1))
			}
		}
	}
	for i, j := head, head; i < n && j < m; {
		switch *at(i, j) {
		case *at(i+1, j):
			i++
		case *at(i, j+1):
			j++
		default:
			match[i] = j
			i, j = i+1, j+1
		}
	}
	return match
}

func tally(blocks []block.Block) (n [block.Kinds]int) {
	for _, b := range blocks {
		n[b.Kind]++
	}
	return n
}

// cost is what is wrong with a pending page, worst first.
type cost struct {
	broken int // blocks that stay and are not seen, and constructs that neither text lacks
	glued  int // lines that should begin or end without a mark, and do not
}

func (c cost) less(d cost) bool {
	return c.broken < d.broken || c.broken == d.broken && c.glued < d.glued
}

// cost looks at the pending page that hunks make.
func (p *page) cost(hunks []align.Hunk) cost {
	pending := p.pending(hunks)
	p.work -= len(pending)
	blocks := block.Scan(pending)
	c := cost{broken: p.unseen(pending, blocks)}
	seen := tally(blocks)
	for k, n := range p.constructs {
		c.broken += max(0, n-seen[k])
	}
	for _, h := range hunks {
		c.glued += p.glued(h)
	}
	return c
}

func (p *page) pending(hunks []align.Hunk) string {
	var b strings.Builder
	b.Grow(len(p.old.Text) + len(p.new.Text)/2)
	at := 0
	for _, h := range hunks {
		b.WriteString(p.old.Text[at:h.Old.Start])
		if !h.Old.Empty() {
			b.WriteString("{--" + h.Old.Of(p.old.Text) + "--}")
		}
		if !h.New.Empty() {
			b.WriteString("{++" + h.New.Of(p.new.Text) + "++}")
		}
		at = h.Old.End
	}
	b.WriteString(p.old.Text[at:])
	return b.String()
}

// maxAhead is how many blocks further down a pending page one is looked for.
const maxAhead = 256

// unseen counts the blocks that stay and are not on a pending page, in their order.
func (p *page) unseen(pending string, blocks []block.Block) (n int) {
	for i, b := range p.oldBlocks {
		if p.match[i] < 0 {
			continue
		}
		found := -1
		for k, c := range blocks[:min(len(blocks), maxAhead)] {
			if c.Kind == b.Kind && shows(b.Kind, c.Of(pending), b.Of(p.old.Text)) {
				found = k
				break
			}
		}
		if found < 0 {
			n++
			continue
		}
		blocks = blocks[found+1:]
	}
	return n
}

var delimiters = strings.NewReplacer("{++", "", "++}", "", "{--", "", "--}", "")

// shows reports whether the text of a block on a pending page is seen as the given one of the same kind: in prose a mark may
// stand beside it.
func shows(kind block.Kind, pending, text string) bool {
	if pending == text {
		return true
	}
	switch kind {
	case block.Paragraph, block.List, block.Quote, block.Table, block.Footnote:
	case block.Callout:
		title, _, _ := strings.Cut(text, "\n")
		if !strings.HasPrefix(pending, title+"\n") {
			return false
		}
	default:
		return false
	}
	if kind == block.Table && strings.Count(pending, "\n") != strings.Count(text, "\n") {
		return false // a mark on a line of its own is a row
	}
	if kind == block.Paragraph && blockID(text) > 0 && !strings.HasSuffix(pending, text[len(text)-blockID(text):]) {
		return false
	}
	return len(pending) < len(text)+64 && strings.TrimSpace(delimiters.Replace(pending)) == text
}

// settle finds better places for hunks as long as blocks break, one hunk after the other, and once more.
func (p *page) settle(hunks []align.Hunk) ([]align.Hunk, cost) {
	best := p.cost(hunks)
	for range 2 {
		for k := range hunks {
			limit := between(hunks, k, len(p.old.Text))
			if best.broken == 0 || p.work < 0 {
				return hunks, best
			}
			start := hunks[k]
			for _, h := range p.candidates(start, limit) {
				hunks[k] = h
				if c := p.cost(hunks); c.less(best) {
					start, best = h, c
				}
			}
			hunks[k] = start
		}
	}
	return hunks, best
}

// joined makes one hunk of all that lie between two blocks that stay, with the changed blocks around them, for each such
// stretch, and takes blocks that stay in.
func (p *page) joined(hunks []align.Hunk, r reach) iter.Seq[[]align.Hunk] {
	stays := [][2]int{{-1, -1}}
	for k, partner := range p.match {
		if partner >= 0 {
			stays = append(stays, [2]int{k, partner})
		}
	}
	stays = append(stays, [2]int{len(p.oldBlocks), len(p.newBlocks)})
	return func(yield func([]align.Hunk) bool) {
		for k := 1; k < len(stays); k++ {
			if x, y := stays[k-1], stays[k]; y[0]-x[0] == 1 && y[1]-x[1] == 1 {
				continue
			}
			x, y := stays[max(0, k-1-r.before)], stays[min(len(stays)-1, k+r.behind)]
			old, new := p.oldBlocks[x[0]+1:y[0]], p.newBlocks[x[1]+1:y[1]]
			if len(old) == 0 || len(new) == 0 {
				continue
			}
			if stayed := extent(old).Len() - p.changed(x[0]+1, y[0]); stayed > maxWritten {
				continue
			}
			if joined := p.join(hunks, extent(old), extent(new)); joined != nil && !yield(joined) {
				return
			}
		}
	}
}

// maxWritten is how much text that stays may be written again to keep a page whole. Whoever types in the old copy of it meanwhile
// types in what is to go.
const maxWritten = 200

// changed is how many bytes of old blocks do not stay.
func (p *page) changed(from, to int) (n int) {
	for k := from; k < to; k++ {
		if p.match[k] < 0 {
			n += p.oldBlocks[k].Len()
		}
	}
	return n
}

func extent(blocks []block.Block) span.Span {
	return span.New(blocks[0].Start, blocks[len(blocks)-1].End)
}

// join makes one hunk of those that touch a stretch of both texts, or the line breaks around it, and takes the rest of the
// stretch in.
func (p *page) join(hunks []align.Hunk, old, new span.Span) []align.Hunk {
	p.work -= len(hunks)
	first, last := len(hunks), -1
	oldBreaks, newBreaks := withBreaks(p.old.Text, old), withBreaks(p.new.Text, new)
	for k, h := range hunks {
		if h.Old.Start <= oldBreaks.End && h.Old.End >= oldBreaks.Start && h.New.Start <= newBreaks.End && h.New.End >= newBreaks.Start {
			first, last = min(first, k), k
		}
	}
	if last < 0 {
		return nil
	}
	f, l := hunks[first], hunks[last]
	head := max(0, f.Old.Start-old.Start, f.New.Start-new.Start)
	tail := max(0, old.End-l.Old.End, new.End-l.New.End)
	h := f.Through(l).Grow(head, tail)
	if first > 0 && h.Old.Start < hunks[first-1].Old.End || last+1 < len(hunks) && h.Old.End > hunks[last+1].Old.Start {
		return nil
	}
	notes := 0 // comments that a hunk takes; others stay
	for _, x := range hunks[first : last+1] {
		notes += p.comments(x)
	}
	if p.comments(h) > notes {
		return nil
	}
	return slices.Concat(hunks[:first], []align.Hunk{h}, hunks[last+1:])
}

// withBreaks is a stretch of a text with the line breaks around it.
func withBreaks(text string, s span.Span) span.Span {
	for s.Start > 0 && (text[s.Start-1] == '\n' || text[s.Start-1] == '\r') {
		s.Start--
	}
	for s.End < len(text) && (text[s.End] == '\n' || text[s.End] == '\r') {
		s.End++
	}
	return s
}
