// Package placement decides where the marks of changed lines begin and end, so that unchanged blocks look as before. A
// hunk that adds or removes lines can begin at several places with the same meaning. If its mark touches a heading, a
// fence or a table, that block, or everything after it, may be rendered differently. [Hunks] searches for places
// (Places in candidates.go) that break the fewest blocks and, among equally good places, the fewest rules about lines
// (Lines in lines.go). It may also widen and join hunks. Its work is bounded: in a long text with many changes, blocks
// may break.
//
// Package align decides where marks within a line are; package marking writes all marks.
package placement

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// Hunks moves, widens and joins the hunks between two texts, which usually consist of whole blocks. fragment means that the
// texts do not begin at a line start.
func Hunks(old, new align.Side, fragment bool, hunks []align.Hunk) []align.Hunk {
	if len(hunks) == 0 {
		return hunks
	}
	p := newLayout(old, new, fragment)
	compared := p.unbroken(p.reshaped(hunks))
	hunks = slices.Clone(compared)
	for k, h := range hunks {
		hunks[k] = p.preferred(h, between(hunks, k, len(old.Text)))
	}
	hunks, best := p.improve(hunks)
	if best.brokenConstructs == 0 {
		return hunks
	}
	for _, r := range []reach{{}, {behind: 1}, {before: 1}, {1, 1}} {
		stretches := p.stretches(r)
		for _, s := range stretches {
			for whole := range p.replaced(hunks, s) {
				if best.brokenConstructs == 0 || p.work < 0 {
					return hunks
				}
				if whole, c := p.improve(whole); c.less(best) {
					hunks, best = whole, c
				}
			}
		}
	}
	if placed, c := p.improve(compared); c.less(best) {
		return placed
	}
	return hunks
}

// reach has the numbers of unchanged blocks by which a stretch is extended at its start and at its end.
type reach struct{ before, behind int }

// between returns the range that is available to hunk k between its neighbours.
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

// layout has the data for rating a pending page, which is the text with the marks of all hunks. constructs has, for
// some kinds of blocks, the number of blocks that both texts have.
type layout struct {
	old, new             align.Side
	fragment             bool // see Hunks
	oldBlocks, newBlocks []block.Block
	oldAtoms, newAtoms   []span.Span // atoms that span a line break
	match                []int       // for each old block the equal new block
	constructs           [block.Kinds]int
	work                 int // bytes of pending pages that may still be scanned
}

func newLayout(old, new align.Side, fragment bool) *layout {
	p := &layout{old: old, new: new, fragment: fragment, oldBlocks: block.Scan(old.Text), newBlocks: block.Scan(new.Text),
		work: minWork + maxPages*(len(old.Text)+len(new.Text))}
	p.match = p.matchBlocks()
	p.oldAtoms, p.newAtoms = wrapped(old.Text, p.oldBlocks), wrapped(new.Text, p.newBlocks)
	o, n := tally(p.oldBlocks), tally(p.newBlocks)
	for _, k := range []block.Kind{block.Table, block.Code, block.Math, block.Callout, block.HTML, block.Comment} {
		p.constructs[k] = min(o[k], n[k])
	}
	return p
}

// These limits bound the work of one comparison. Beyond them hunks stay at their places.
const (
	minWork  = 1 << 19 // bytes
	maxPages = 4       // multiple of the size of both texts
)

const maxPairs = 1 << 16

// matchBlocks finds the unchanged blocks. It first matches equal blocks at the start and at the end of the texts. From
// the other blocks that both texts have in the same order, it chooses the blocks with the most lines. It matches none of
// these if that would take more than maxPairs comparisons.
func (p *layout) matchBlocks() []int {
	match := align.Unmatched(len(p.oldBlocks))
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
	best := make([]int, (rows+1)*(columns+1))
	at := func(i, j int) *int { return &best[(i-head)*(columns+1)+j-head] }
	for i := n - 1; i >= head; i-- {
		w := 2 + strings.Count(p.oldBlocks[i].Of(p.old.Text), "\n")
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

// cost rates a pending page. Its fields are in order of importance.
type cost struct {
	brokenConstructs int // unchanged blocks that are not recognized, and missing constructs that both texts have
	spoiledLines     int // lines that have a mark at an end where none should be
}

func (c cost) less(d cost) bool {
	return c.brokenConstructs < d.brokenConstructs || c.brokenConstructs == d.brokenConstructs && c.spoiledLines < d.spoiledLines
}

func (p *layout) cost(hunks []align.Hunk) cost {
	pending := p.pending(hunks)
	p.work -= len(pending)
	blocks := block.Scan(pending)
	c := cost{brokenConstructs: p.countMissing(pending, blocks)}
	seen := tally(blocks)
	for k, n := range p.constructs {
		c.brokenConstructs += max(0, n-seen[k])
	}
	for _, h := range hunks {
		c.spoiledLines += p.spoiledLines(h)
	}
	return c
}

func (p *layout) pending(hunks []align.Hunk) string {
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

// maxAhead is the maximum number of blocks of a pending page that are searched for an unchanged block.
const maxAhead = 256

// countMissing counts the unchanged blocks that a pending page does not have in the same order.
func (p *layout) countMissing(pending string, blocks []block.Block) (n int) {
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

// shows reports whether a block of a pending page is recognized as the given block of the same kind. Prose may have a
// mark next to it.
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
		return false // a mark on a separate line counts as a row
	}
	switch last := text[span.LineStart(text, len(text)):]; {
	case kind == block.Paragraph && blockID(text) == 0:
	case kind == block.Paragraph && blockID(text) == len(text), breaksLine(last, end) && !strings.HasSuffix(pending, last):
		return false
	}
	return len(pending) < len(text)+64 && strings.TrimSpace(delimiters.Replace(pending)) == strings.TrimSpace(text)
}

// improve finds better places for hunks, one after the other, in up to two rounds, until no block breaks or the work
// limit is reached. It changes the given slice.
func (p *layout) improve(hunks []align.Hunk) ([]align.Hunk, cost) {
	best := p.cost(hunks)
	for range 2 {
		for k := range hunks {
			limit := between(hunks, k, len(p.old.Text))
			if best.brokenConstructs == 0 || p.work < 0 {
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

// reshaped merges all hunks in a table whose delimiter row changes, if the new text has a table there, because the new
// row fits none of the old rows.
func (p *layout) reshaped(hunks []align.Hunk) []align.Hunk {
	for _, b := range p.oldBlocks {
		if b.Kind != block.Table {
			continue
		}
		start := span.LineEnd(p.old.Text, b.Start)
		if from, to := touching(hunks, span.New(start, span.LineEnd(p.old.Text[:b.End], start)-1)); from == to {
			continue
		}
		from, to := touching(hunks, b.Span)
		h := hunks[from].Union(hunks[to-1])
		h = h.Grow(max(0, h.Old.Start-b.Start), max(0, b.End-h.Old.End))
		table := func(b block.Block) bool { return b.Kind == block.Table && b.Start < h.New.End && b.End > h.New.Start }
		if slices.ContainsFunc(p.newBlocks, table) && p.comments(h) <= p.comments(hunks[from:to]...) {
			hunks = slices.Replace(hunks, from, to, h)
		}
	}
	return hunks
}

// unbroken merges the hunks that start or end inside one construct that spans lines, such as a link or code, and
// extends the result to the whole construct.
func (p *layout) unbroken(hunks []align.Hunk) []align.Hunk {
	for k := 0; k < len(hunks); {
		from, to, x := k, k+1, p.whole(hunks[k])
		switch limit := between(hunks, k, len(p.old.Text)); {
		case x.Old.Start < limit.Start:
			from--
			x = hunks[from].Union(hunks[k])
		case x.Old.End > limit.End:
			x = hunks[k].Union(hunks[to])
			to++
		}
		if x == hunks[k] || p.cuts(x) || p.comments(x) > p.comments(hunks[from:to]...) {
			k++
			continue
		}
		hunks = slices.Replace(hunks, from, to, x)
		k = from
	}
	return hunks
}

// whole returns a hunk extended by the constructs that span lines and contain one end of the hunk.
func (p *layout) whole(h align.Hunk) align.Hunk {
	old, new := withCut(p.oldAtoms, h.Old), withCut(p.newAtoms, h.New)
	return h.Grow(max(h.Old.Start-old.Start, h.New.Start-new.Start), max(old.End-h.Old.End, new.End-h.New.End))
}

func withCut(atoms []span.Span, s span.Span) span.Span {
	k, _ := slices.BinarySearchFunc(atoms, s.Start, func(a span.Span, at int) int { return a.End - at - 1 })
	for ; k < len(atoms) && atoms[k].Start < s.End; k++ {
		s = span.New(min(s.Start, atoms[k].Start), max(s.End, atoms[k].End))
	}
	return s
}

func wrapped(text string, blocks []block.Block) (out []span.Span) {
	for _, b := range blocks {
		if slices.Contains(prose, b.Kind) {
			out = append(out, span.Shift(markdown.Wrapped(b.Of(text)), b.Start)...)
		}
	}
	return out
}

var prose = []block.Kind{block.Paragraph, block.Quote, block.Callout, block.List, block.Footnote}

// touching finds the hunks with changes in a range of the old text. The indexes of these hunks are [from, to).
func touching(hunks []align.Hunk, s span.Span) (from, to int) {
	from, _ = slices.BinarySearchFunc(hunks, s.Start, func(h align.Hunk, at int) int { return cmp.Or(cmp.Compare(h.Old.End, at), -1) })
	for to = from; to < len(hunks) && hunks[to].Old.Start < s.End; to++ {
	}
	return from, to
}

// stretch is the range between two unchanged blocks, in both texts, with the line breaks around it.
type stretch struct{ old, new span.Span }

func (p *layout) stretches(r reach) (out []stretch) {
	stays := [][2]int{{-1, -1}}
	for k, partner := range p.match {
		if partner >= 0 {
			stays = append(stays, [2]int{k, partner})
		}
	}
	stays = append(stays, [2]int{len(p.oldBlocks), len(p.newBlocks)})
	of := func(x, y [2]int) stretch {
		return stretch{gap(p.oldBlocks, x[0], y[0], len(p.old.Text)), gap(p.newBlocks, x[1], y[1], len(p.new.Text))}
	}
	for k := 1; k < len(stays); k++ {
		if s := of(stays[k-1], stays[k]); s.old.Of(p.old.Text) == s.new.Of(p.new.Text) {
			continue
		}
		x, y := stays[max(0, k-1-r.before)], stays[min(len(stays)-1, k+r.behind)]
		if p.staying(x[0]+1, y[0]) <= maxWritten {
			out = append(out, of(x, y))
		}
	}
	return out
}

func gap(blocks []block.Block, x, y, size int) span.Span {
	s := span.New(0, size)
	if x >= 0 {
		s.Start = blocks[x].End
	}
	if y < len(blocks) {
		s.End = blocks[y].Start
	}
	return s
}

// maxWritten is the maximum number of unchanged bytes that may be deleted and written again to keep a page intact. It
// is small, because text that others type concurrently into the old copy becomes part of the deleted text.
const maxWritten = 200

// staying returns the number of bytes of the unchanged blocks among the old blocks [from, to).
func (p *layout) staying(from, to int) (n int) {
	for k := from; k < to; k++ {
		if p.match[k] >= 0 {
			n += p.oldBlocks[k].Len()
		}
	}
	return n
}

// replaced yields scripts with one hunk for the whole stretch. The hunks differ in the number of line breaks that they
// leave out at the common start and end of both texts of the stretch.
func (p *layout) replaced(hunks []align.Hunk, s stretch) iter.Seq[[]align.Hunk] {
	return func(yield func([]align.Hunk) bool) {
		first, last, ok := p.within(hunks, s)
		if !ok {
			return
		}
		notes := p.comments(hunks[first:last]...)
		for _, x := range p.withoutBreaks(align.Hunk{Old: s.old, New: s.new}, false) {
			for _, h := range p.withoutBreaks(x, true) {
				if !p.cuts(h) && p.comments(h) <= notes && !yield(slices.Concat(hunks[:first], []align.Hunk{h}, hunks[last:])) {
					return
				}
			}
		}
	}
}

// withoutBreaks returns a hunk and shorter forms of it. Each form lacks one more line break at the start of both texts,
// or at the end of both if atEnd is set.
func (p *layout) withoutBreaks(h align.Hunk, atEnd bool) []align.Hunk {
	length := span.BreakLen
	if atEnd {
		length = span.FinalBreakLen
	}
	out := []align.Hunk{h}
	for len(out) <= maxBreaks {
		n := length(h.Old.Of(p.old.Text))
		if n == 0 || n != length(h.New.Of(p.new.Text)) {
			break
		}
		if atEnd {
			h = h.Grow(0, -n)
		} else {
			h = h.Grow(-n, 0)
		}
		out = append(out, h)
	}
	return out
}

// within finds the hunks [first, last) that turn one text of a stretch into the other. ok is false if there are none,
// or if some of them change text outside the stretch. The hunks may extend beyond the stretch over equal text.
func (p *layout) within(hunks []align.Hunk, s stretch) (first, last int, ok bool) {
	delta := func(k int) int { // new offset minus old offset before hunk k
		if k == 0 {
			return 0
		}
		return hunks[k-1].New.End - hunks[k-1].Old.End
	}
	for first < len(hunks) && hunks[first].Old.End <= s.old.Start && hunks[first].New.End <= s.new.Start {
		first++
	}
	last = first
	for last < len(hunks) && (hunks[last].Old.Start < s.old.End || hunks[last].New.Start < s.new.End) {
		last++
	}
	if first == last || delta(first) != s.new.Start-s.old.Start || delta(last) != s.new.End-s.old.End {
		return 0, 0, false
	}
	all := hunks[first].Union(hunks[last-1])
	ok = true
	if all.Old.Start < s.old.Start {
		ok = p.old.Text[all.Old.Start:s.old.Start] == p.new.Text[all.New.Start:s.new.Start]
	}
	if all.Old.End > s.old.End {
		ok = ok && p.old.Text[s.old.End:all.Old.End] == p.new.Text[s.new.End:all.New.End]
	}
	return first, last, ok
}
