package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/lcs"
	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// words compares two pieces of text word by word. survival is the share, in per cent, of the shorter piece that must
// survive, counted in words; with less, what lies between the first and the last of many changes is replaced as one.
func (a *aligner) words(old, new span.Span, survival int) {
	o, n := a.interned(a.old, old), a.interned(a.new, new)
	match := lcs.Match(o.ids, n.ids)
	changes := tokenChanges(match, len(n.ids))
	if !a.exact {
		changes = a.readable(o, n, changes, match, survival)
	}
	for _, c := range changes {
		a.change(o.piece(c.old), n.piece(c.new))
	}
}

// tokens is a piece of text as tokens, with their interned numbers.
type tokens struct {
	span.Span
	list  []markdown.Token
	ids   []int
	words int // how many tokens are neither blanks nor symbols
	bytes int // and their length
}

func (a *aligner) interned(s Side, piece span.Span) tokens {
	t := tokens{Span: piece, list: slices.AppendSeq(make([]markdown.Token, 0, piece.Len()/4+1), markdown.Tokens(s.Text, piece, s.Comments))}
	t.ids = internAll(a, s.Text, t.list)
	for _, tok := range t.list {
		if tok.IsWord() {
			t.words++
			t.bytes += tok.Len()
		}
	}
	return t
}

func (t *tokens) piece(r span.Span) span.Span {
	s := span.New(t.End, t.End)
	if r.Start < len(t.list) {
		s.Start = t.list[r.Start].Start
	}
	if r.End < len(t.list) {
		s.End = t.list[r.End].Start
	}
	return s
}

// kept returns how many words have a partner, and their length in bytes.
func (t *tokens) kept(match []int) (words, bytes int) {
	for k, j := range match {
		if j >= 0 && t.list[k].IsWord() {
			words++
			bytes += t.list[k].Len()
		}
	}
	return words, bytes
}

// tokenChange is a hunk in numbers of tokens.
type tokenChange struct{ old, new span.Span }

func (c tokenChange) replaces() bool { return !c.old.Empty() && !c.new.Empty() }

// tokenChanges lists what a matching leaves unmatched; newLen is the number of new tokens.
func tokenChanges(match []int, newLen int) []tokenChange {
	var out []tokenChange
	i, j := 0, 0
	for k, partner := range append(match, newLen) {
		if partner < 0 {
			continue
		}
		if c := (tokenChange{span.New(i, k), span.New(j, partner)}); !c.old.Empty() || !c.new.Empty() {
			out = append(out, c)
		}
		i, j = k+1, partner+1
	}
	return out
}

// maxScattered is how many changes of a line a person can decide one by one, however little stays between them. They may
// be several writers'.
const maxScattered = 3

// readable applies the rules that make the changes of a piece of text readable.
func (a *aligner) readable(o, n tokens, changes []tokenChange, match []int, survival int) []tokenChange {
	changes = foldIslands(a.old.Text, o, changes)
	if words, _ := o.kept(match); len(changes) > maxScattered && 100*words < survival*min(o.words, n.words) {
		first, last := changes[0], changes[len(changes)-1]
		changes = []tokenChange{{span.New(first.old.Start, last.old.End), span.New(first.new.Start, last.new.End)}}
	}
	for k := range changes {
		changes[k] = trimBlanks(o, n, changes[k])
	}
	return changes
}

// foldIslands joins two changes that only a lone blank parts, if both take something out and one puts something in, and two
// changes within unspaced script that only one character parts: one change of a phrase reads better than one per word.
func foldIslands(text string, o tokens, changes []tokenChange) []tokenChange {
	out := changes[:0]
	for _, c := range changes {
		if len(out) > 0 && islandFolds(text, o, out[len(out)-1], c) {
			last := &out[len(out)-1]
			last.old.End, last.new.End = c.old.End, c.new.End
			continue
		}
		out = append(out, c)
	}
	return out
}

// islandFolds reports whether the kept tokens between two changes are too little to keep them apart.
func islandFolds(text string, o tokens, left, right tokenChange) bool {
	if right.old.Start-left.old.End != 1 || left.old.Empty() || right.old.Empty() {
		return false
	}
	switch island := o.list[left.old.End]; island.Class {
	case markdown.Space:
		return linebreak.Len(island.Of(text)) == 0 && (left.replaces() || right.replaces())
	case markdown.Glyph:
		return o.list[left.old.End-1].Class == markdown.Glyph && o.list[right.old.Start].Class == markdown.Glyph
	}
	return false
}

// trimBlanks takes equal blanks out of the ends of a change, which folding may have brought in.
func trimBlanks(o, n tokens, c tokenChange) tokenChange {
	for c.replaces() && o.ids[c.old.Start] == n.ids[c.new.Start] {
		c.old.Start++
		c.new.Start++
	}
	for c.replaces() && o.ids[c.old.End-1] == n.ids[c.new.End-1] {
		c.old.End--
		c.new.End--
	}
	return c
}

// trimClusters takes the grapheme clusters that both pieces start or end with out of a change.
func trimClusters(oldText, newText string, old, new span.Span) (span.Span, span.Span) {
	for !old.Empty() && !new.Empty() {
		n := markdown.ClusterLength(oldText[old.Start:old.End])
		if n != markdown.ClusterLength(newText[new.Start:new.End]) || oldText[old.Start:old.Start+n] != newText[new.Start:new.Start+n] {
			break
		}
		old.Start, new.Start = old.Start+n, new.Start+n
	}
	oldBorders, newBorders := borders(oldText, old), borders(newText, new)
	for len(oldBorders) > 0 && len(newBorders) > 0 {
		o, n := oldBorders[len(oldBorders)-1], newBorders[len(newBorders)-1]
		if oldText[o:old.End] != newText[n:new.End] {
			break
		}
		old.End, new.End = o, n
		oldBorders, newBorders = oldBorders[:len(oldBorders)-1], newBorders[:len(newBorders)-1]
	}
	return old, new
}

func borders(text string, s span.Span) []int {
	var out []int
	for i := s.Start; i < s.End; i += markdown.ClusterLength(text[i:s.End]) {
		out = append(out, i)
	}
	return out
}
