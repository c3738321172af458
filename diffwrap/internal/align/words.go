package align

import (
	"slices"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// wordHunks appends the changes of two pieces of text, word by word. survival is the share, in per cent, of the shorter piece that
// must survive, counted in words; with less, what lies between the first and the last of many changes is replaced as one.
func wordHunks(r *room, hunks []Hunk, o, n *page, piece Hunk, survival int) []Hunk {
	w := tokenScript(r, o.Side, n.Side, piece)
	w.survival = survival
	changes := w.changes()
	if !o.exact {
		changes = readable(&w, changes)
	}
	for _, c := range changes {
		hunks = add(hunks, Hunk{w.old.piece(c.old), w.new.piece(c.new)})
	}
	return hunks
}

// KeptWords pairs the words that two texts share, in order.
func KeptWords(old, new Side) (pairs []Hunk) {
	wordsOf := func(s Side) (words []markdown.Token) {
		for t := range markdown.Tokens(s.Text, span.New(0, len(s.Text)), s.Comments) {
			if t.IsWord() {
				words = append(words, t)
			}
		}
		return words
	}
	r, o, n := &room{}, wordsOf(old), wordsOf(new)
	for i, j := range r.Match(intern(r, nil, old.Text, o), intern(r, nil, new.Text, n)) {
		if j >= 0 {
			pairs = append(pairs, Hunk{o[i].Span, n[j].Span})
		}
	}
	return pairs
}

// wording is two pieces of text as tokens, and which of them stay.
type wording struct {
	old, new *tokens
	match    []int // of old tokens with new ones; -1 for none
	survival int   // see wordHunks
}

// tokenScript compares two pieces of text. What it returns is good until it is called again.
func tokenScript(r *room, old, new Side, piece Hunk) wording {
	r.old.read(r, old, piece.Old)
	r.new.read(r, new, piece.New)
	return wording{old: &r.old, new: &r.new, match: r.Match(r.old.ids, r.new.ids)}
}

// tokens is a piece of text as tokens, with the numbers of their texts.
type tokens struct {
	span.Span
	text  string // that the piece is of
	list  []markdown.Token
	ids   []int
	words int // how many tokens are neither blanks nor symbols
	bytes int // and their length
}

// read reads a piece of text.
func (t *tokens) read(r *room, s Side, piece span.Span) {
	list := slices.AppendSeq(slices.Grow(t.list[:0], piece.Len()/4+1), markdown.Tokens(s.Text, piece, s.Comments))
	*t = tokens{Span: piece, text: s.Text, list: list, ids: intern(r, t.ids[:0], s.Text, list)}
	for _, tok := range t.list {
		if tok.IsWord() {
			t.words++
			t.bytes += tok.Len()
		}
	}
}

// piece is the stretch of text of some tokens, by their numbers.
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

// of is the text of some tokens.
func (t *tokens) of(r span.Span) string { return t.piece(r).Of(t.text) }

// kept returns how many words of some old tokens there are, how many of them stay, and the length of these in bytes.
func (w *wording) kept(r span.Span) (words, kept, bytes int) {
	for k := r.Start; k < r.End; k++ {
		if tok := w.old.list[k]; tok.IsWord() {
			words++
			if w.match[k] >= 0 {
				kept++
				bytes += tok.Len()
			}
		}
	}
	return words, kept, bytes
}

// all numbers all old tokens.
func (w *wording) all() span.Span { return span.New(0, len(w.match)) }

// change is a hunk in numbers of tokens.
type change struct{ old, new span.Span }

func (c change) replaces() bool { return !c.old.Empty() && !c.new.Empty() }

// through is the change from one to another one after it.
func (c change) through(last change) change {
	return change{span.New(c.old.Start, last.old.End), span.New(c.new.Start, last.new.End)}
}

// changes lists what stays on neither side.
func (w *wording) changes() (out []change) {
	i, j := 0, 0
	for k := range len(w.match) + 1 {
		partner := len(w.new.ids)
		if k < len(w.match) {
			partner = w.match[k]
		}
		if partner < 0 {
			continue
		}
		if c := (change{span.New(i, k), span.New(j, partner)}); !c.old.Empty() || !c.new.Empty() {
			out = append(out, c)
		}
		i, j = k+1, partner+1
	}
	return out
}
