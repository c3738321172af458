package align

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// wordHunks appends the changes between two pieces of text, word by word. survival is the percentage of a sentence's
// words that must stay. If fewer words stay, many changes of the sentence become one change.
func wordHunks(r *Comparer, hunks []Hunk, o, n *lineText, piece Hunk, survival int) []Hunk {
	w := tokenScript(r, o.Side, n.Side, piece)
	w.survival = survival
	changes := w.changes()
	if !o.exact {
		changes = readable(&w, changes)
	}
	for _, c := range changes {
		hunks = add(hunks, o.Side, n.Side, Hunk{w.old.piece(c.old), w.new.piece(c.new)})
	}
	return hunks
}

// KeepWords joins hunks that have no whole word between them, and splits hunks at the words that both of their sides
// have in the same order. A comparison by lines may have put such words into a hunk. If letters is set, a word keeps the
// letters at its ends that it shares with the word that replaces it.
func (r *Comparer) KeepWords(oldSide, newSide Side, hunks []Hunk, letters bool) (out []Hunk) {
	old, new := oldSide.Text, newSide.Text
	end := 0
	for len(hunks) > 0 {
		count := 1
		for count < len(hunks) && noWordBetween(old, new, hunks[count-1], hunks[count]) {
			count++
		}
		h := hunks[0].Union(hunks[count-1])
		hunks = hunks[count:]
		head, tail := old[end:h.Old.Start], old[h.Old.End:]
		if len(hunks) > 0 {
			tail = old[h.Old.End:hunks[0].Old.Start]
		}
		end = h.Old.End
		// A hunk that cuts a word gets the whole word. Between words, it would take the next word for one of its own.
		if firstWord(h.Old.Of(old))+firstWord(h.New.Of(new)) > 0 {
			h = h.Grow(len(markdown.LastWord(head)), 0)
		}
		if markdown.LastWord(h.Old.Of(old)) != "" || markdown.LastWord(h.New.Of(new)) != "" {
			h = h.Grow(0, firstWord(tail))
		}
		if h.Old.Empty() || h.New.Empty() {
			out = append(out, h)
			continue
		}
		part := func(at Hunk) {
			for at.shares(old, new, at.Old.Start, at.New.Start, letters) {
				at = at.Grow(-1, 0)
			}
			for at.shares(old, new, at.Old.End-1, at.New.End-1, letters) {
				at = at.Grow(0, -1)
			}
			if !at.Old.Empty() || !at.New.Empty() {
				out = append(out, at)
			}
		}
		r.old.readWords(r, oldSide, h.Old)
		r.new.readWords(r, newSide, h.New)
		for i, j := range r.Match(r.old.ids, r.new.ids) {
			if j >= 0 {
				o, n := r.old.list[i], r.new.list[j]
				part(Hunk{span.New(h.Old.Start, o.Start), span.New(h.New.Start, n.Start)})
				h.Old.Start, h.New.Start = o.End, n.End
			}
		}
		part(h)
	}
	return out
}

// firstWord returns the length of the word at the start of a text.
func firstWord(text string) int { return len(text) - len(strings.TrimLeftFunc(text, markdown.InWord)) }

// shares reports whether two ASCII characters, at i in old and at j in new, are equal. Parts of different line breaks
// do not count as equal, and letters only if letters is set.
func (h Hunk) shares(old, new string, i, j int, letters bool) bool {
	if h.Old.Empty() || h.New.Empty() || old[i] != new[j] || old[i] >= utf8.RuneSelf || !letters && markdown.InWord(rune(old[i])) {
		return false
	}
	switch old[i] {
	case '\r':
		return strings.HasPrefix(old[i+1:], "\n") == strings.HasPrefix(new[j+1:], "\n")
	case '\n':
		return strings.HasSuffix(old[:i], "\r") == strings.HasSuffix(new[:j], "\r")
	}
	return true
}

// noWordBetween reports whether the text between two hunks contains no whole word.
func noWordBetween(old, new string, before, after Hunk) bool {
	between := old[before.Old.End:after.Old.Start]
	if markdown.JoinsWord(old[:before.Old.End], between) || markdown.JoinsWord(new[:before.New.End], between) {
		between = strings.TrimLeftFunc(between, markdown.InWord)
	}
	if markdown.JoinsWord(between, old[after.Old.Start:]) || markdown.JoinsWord(between, new[after.New.Start:]) {
		between = strings.TrimRightFunc(between, markdown.InWord)
	}
	return !strings.ContainsFunc(between, markdown.InWord)
}

type tokenDiff struct {
	old, new *tokens
	match    []int // for each old token its new token, or -1
	survival int   // see wordHunks
}

// tokenScript compares two pieces of text. Its result is valid until the next call.
func tokenScript(r *Comparer, old, new Side, piece Hunk) tokenDiff {
	r.old.read(r, old, piece.Old)
	r.new.read(r, new, piece.New)
	return tokenDiff{old: &r.old, new: &r.new, match: r.Match(r.old.ids, r.new.ids)}
}

type tokens struct {
	span.Span
	text  string // contains the piece
	list  []markdown.Token
	ids   []int
	bytes int // total length of the tokens that are neither blanks nor symbols
}

func (t *tokens) read(r *Comparer, s Side, piece span.Span) {
	list := slices.AppendSeq(slices.Grow(t.list[:0], piece.Len()/4+1), markdown.Tokens(s.Text, piece, s.Comments))
	*t = tokens{Span: piece, text: s.Text, list: list, ids: intern(r, t.ids[:0], s.Text, list)}
	for _, tok := range t.list {
		if tok.IsWord() {
			t.bytes += tok.Len()
		}
	}
}

// readWords reads only the words and whole comments of a piece of text.
func (t *tokens) readWords(r *Comparer, s Side, piece span.Span) {
	t.list = t.list[:0]
	for tok := range markdown.Tokens(s.Text, piece, Inside(s.Comments, piece)) {
		if tok.IsWord() {
			t.list = append(t.list, tok)
		}
	}
	t.ids = intern(r, t.ids[:0], s.Text, t.list)
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

func (t *tokens) of(r span.Span) string { return t.piece(r).Of(t.text) }

// countKept counts the old tokens in r that are words: words is their number, countKept is the number of words that are
// kept, and bytes is the length of the kept words.
func (w *tokenDiff) countKept(r span.Span) (words, countKept, bytes int) {
	for k := r.Start; k < r.End; k++ {
		if tok := w.old.list[k]; tok.IsWord() {
			words++
			if w.match[k] >= 0 {
				countKept++
				bytes += tok.Len()
			}
		}
	}
	return words, countKept, bytes
}

func (w *tokenDiff) all() span.Span { return span.New(0, len(w.match)) }

// change is a hunk in token indices.
type change struct{ old, new span.Span }

func (c change) replaces() bool { return !c.old.Empty() && !c.new.Empty() }

func (c change) through(last change) change {
	return change{span.New(c.old.Start, last.old.End), span.New(c.new.Start, last.new.End)}
}

func (w *tokenDiff) changes() (out []change) {
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
