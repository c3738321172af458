package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/linebreak"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// words compares two pieces of text word by word. survival is the share, in per cent, of the shorter piece that must
// survive, counted in words; with less, what lies between the first and the last of many changes is replaced as one.
func (a *aligner) words(old, new span.Span, survival int) {
	o, n := a.interned(old, new)
	match := a.matcher.Match(o.ids, n.ids)
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

// interned reads a piece of each text, until it is called again.
func (a *aligner) interned(old, new span.Span) (o, n tokens) {
	a.oldToks.read(a, a.old, old)
	a.newToks.read(a, a.new, new)
	return a.oldToks, a.newToks
}

// read reads a piece of text.
func (t *tokens) read(a *aligner, s Side, piece span.Span) {
	*t = tokens{Span: piece, list: slices.AppendSeq(slices.Grow(t.list[:0], piece.Len()/4+1), markdown.Tokens(s.Text, piece, s.Comments)), ids: t.ids[:0]}
	t.ids = internAll(a, t.ids, s.Text, t.list)
	for _, tok := range t.list {
		if tok.IsWord() {
			t.words++
			t.bytes += tok.Len()
		}
	}
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
	for k := range len(match) + 1 {
		partner := newLen
		if k < len(match) {
			partner = match[k]
		}
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
	changes = foldPairs(a.old.Text, a.new.Text, o, n, changes)
	if words, _ := o.kept(match); len(changes) > maxScattered && 100*words < survival*min(o.words, n.words) {
		changes = []tokenChange{changes[0].through(changes[len(changes)-1])}
	}
	changes = foldSentences(a.old.Text, o, changes, match, survival)
	for k := range changes {
		changes[k] = trimBlanks(o, n, changes[k])
	}
	return changes
}

// through is the change from one to another one after it.
func (c tokenChange) through(last tokenChange) tokenChange {
	return tokenChange{span.New(c.old.Start, last.old.End), span.New(c.new.Start, last.new.End)}
}

// foldSentences makes one change of many in a sentence of which too little survives.
func foldSentences(text string, o tokens, changes []tokenChange, match []int, survival int) []tokenChange {
	if len(changes) <= maxScattered || survival == 0 {
		return changes
	}
	out := changes[:0]
	for from := 0; from < len(o.list); {
		end := sentenceEnd(text, o, from)
		n := 0
		for n < len(changes) && changes[n].old.Start < end {
			n++
		}
		words, kept := 0, 0
		for k := from; k < end; k++ {
			if o.list[k].IsWord() {
				words++
				if match[k] >= 0 {
					kept++
				}
			}
		}
		if n > maxScattered && changes[n-1].old.End <= end && 100*kept < survival*words {
			out = append(out, changes[0].through(changes[n-1]))
		} else {
			out = append(out, changes[:n]...)
		}
		changes, from = changes[n:], end
	}
	return append(out, changes...)
}

// sentenceEnd returns the token behind the end of the sentence at token from: one that follows a full stop and a blank.
func sentenceEnd(text string, o tokens, from int) int {
	for k := from; k+1 < len(o.list); k++ {
		switch s := o.list[k].Of(text); s {
		case ".", "!", "?":
			if o.list[k+1].Class == markdown.Space {
				return k + 2
			}
		case "。", "！", "？":
			return k + 1
		}
	}
	return len(o.list)
}

// closers are what closes a pair that a token opens.
var closers = map[string]string{
	"": "", "*": "*", "**": "**", "***": "***", "_": "_", "__": "__", "~~": "~~", "==": "==", "\"": "\"", "'": "'", "“": "”", "„": "“", "‘": "’",
	"«": "»", "»": "«", "(": ")", "[": "]", "「": "」", "『": "』",
}

// maxPaired is how many bytes between the ends of a pair are written again to keep it together.
const maxPaired = 60

// foldPairs makes one change of two that put the ends of a pair around something, take them away, or put others there: one without
// the other leaves a text that nobody wrote.
func foldPairs(oldText, newText string, o, n tokens, changes []tokenChange) []tokenChange {
	out := changes[:0]
	for _, c := range changes {
		if len(out) > 0 {
			last := &out[len(out)-1]
			before, opens := closers[o.piece(last.old).Of(oldText)]
			after, alsoOpens := closers[n.piece(last.new).Of(newText)]
			if opens && alsoOpens && o.piece(c.old).Of(oldText) == before && n.piece(c.new).Of(newText) == after &&
				o.piece(span.New(last.old.End, c.old.Start)).Len() <= maxPaired {
				*last = last.through(c)
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// foldIslands joins two changes that only a lone blank parts, if both take something out and one puts something in, and two
// changes within unspaced script that few characters part: one change of a phrase reads better than one per word.
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

// maxIsland is how many kept characters or syllables of a script without spaces are too few to keep two changes apart.
const maxIsland = 2

// islandFolds reports whether the kept tokens between two changes are too little to keep them apart.
func islandFolds(text string, o tokens, left, right tokenChange) bool {
	island := o.list[left.old.End:right.old.Start]
	if len(island) == 0 || left.old.Empty() || right.old.Empty() {
		return false
	}
	if first := island[0]; len(island) == 1 && first.Class == markdown.Space {
		return linebreak.Len(first.Of(text)) == 0 && (left.replaces() || right.replaces())
	}
	unspaced := func(t markdown.Token) bool { return t.Class == markdown.Glyph }
	return len(island) <= maxIsland && !slices.ContainsFunc(island, func(t markdown.Token) bool { return !unspaced(t) }) &&
		unspaced(o.list[left.old.End-1]) && unspaced(o.list[right.old.Start])
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
