package textmerge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

// Adopted is the effect of an external change, found by comparing the texts. The comparison treats a mark as one
// token: it stays with both delimiters around most of its text, or it is deleted.
type Adopted struct {
	Edits []diffwrap.Edit
	Moved []Moved         // moved parts of marks, in order of To
	Torn  []Moved         // delimiters whose other half was deleted: they mark nothing at their new place; in order of To
	Plain []diffwrap.Span // spans of before: the texts of marks that no longer exist
}

// Moved is a mark's text that a save moved.
type Moved struct{ From, To diffwrap.Span }

func SavedEdits(before, after string) []diffwrap.Edit { return Adopt(before, after, nil).Edits }

// Adopt computes the change from before to after. torn has the delimiters of before that already mark nothing. The
// edits replace whole words and marks, and whole lines with the line break after them, so that they merge well with
// concurrent changes.
func Adopt(before, after string, torn []diffwrap.Span) Adopted {
	edits := wholeWords(before, diffwrap.Diff(before, after))
	if !hasMarkup(before) {
		slide(before, after, edits, nil)
		return Adopted{Edits: edits}
	}
	was := tokensOf(Without(before, torn))
	slide(before, after, edits, was)
	a := adoption{before: before, after: after, kept: Kept(len(before), edits), was: was, known: wordsIn(before), isTorn: make(map[int]bool), wasTorn: make(map[int]bool)}
	return a.adopt(edits, torn)
}

func hasMarkup(raw string) bool {
	return strings.Contains(raw, "{++") || strings.Contains(raw, "{--") || strings.Contains(raw, "{~~") || strings.Contains(raw, "{>>")
}

// token is a mark or comment in three parts. The body of a substitution has both its texts.
type token struct {
	open, body, close diffwrap.Span
	comment           bool
}

func (t *token) whole() diffwrap.Span { return diffwrap.Span{Start: t.open.Start, End: t.close.End} }

func tokensOf(raw string) (list []token) {
	marks, _, furniture := diffwrap.Everything.Layout(raw)
	for _, m := range marks {
		body := diffwrap.Span{Start: m.Start + 3, End: m.End - 3}
		switch {
		case raw[m.Start:m.Start+3] == "{~~", m.Added.Empty() && m.Deleted.Empty():
		case !m.Added.Empty():
			body = m.Added
		default:
			body = m.Deleted
		}
		list = append(list, token{diffwrap.Span{Start: m.Start, End: body.Start}, body, diffwrap.Span{Start: body.End, End: m.End}, false})
	}
	for _, f := range furniture {
		if s := f.Of(raw); len(s) >= 6 && s != "{==" && s != "==}" {
			list = append(list, token{
				diffwrap.Span{Start: f.Start, End: f.Start + 3}, diffwrap.Span{Start: f.Start + 3, End: f.End - 3}, diffwrap.Span{Start: f.End - 3, End: f.End}, true,
			})
		}
	}
	slices.SortFunc(list, func(a, b token) int { return a.open.Start - b.open.Start })
	return list
}

// Without blanks out delimiters that mark nothing.
func Without(raw string, torn []diffwrap.Span) string {
	if len(torn) == 0 {
		return raw
	}
	text := []byte(raw)
	for _, s := range torn {
		clear(text[s.Start:s.End])
	}
	return string(text)
}

// around returns the token that strictly contains an offset, nil if none.
func around(tokens []token, off int) *token {
	i, _ := slices.BinarySearchFunc(tokens, off+1, func(t token, off int) int { return t.close.End - off })
	if i == len(tokens) || tokens[i].open.Start >= off {
		return nil
	}
	return &tokens[i]
}

// slide moves pure insertions and deletions along equal characters to where they cut least: preferably outside
// tokens, and whole lines to a line start.
func slide(before, after string, edits []diffwrap.Edit, was []token) {
	end, shift := 0, 0 // state after the preceding edits
	for i := range edits {
		e := &edits[i]
		next := len(before)
		if i+1 < len(edits) {
			next = edits[i+1].Off
		}
		size := len(e.New) - e.Len
		if e.Len == 0 || e.New == "" {
			text, at, n := after, e.Off+shift, len(e.New)
			if e.New == "" {
				text, at, n = before, e.Off, e.Len
			}
			by := place(before, text, at, n, end-e.Off, next-e.Off-e.Len, e.Off-at, e.New == "", was)
			if e.Off += by; e.Len == 0 {
				e.New = text[at+by : at+by+n]
			}
		}
		end = e.Off + e.Len
		shift += size
	}
}

// place returns how far to move the n bytes at offset at of text, within least and most. toBefore converts offsets of
// text to offsets of before.
func place(before, text string, at, n, least, most, toBefore int, deleted bool, was []token) (by int) {
	for by > least && text[at+by-1] == text[at+by-1+n] {
		by--
	}
	best, bestCost := 0, 1<<30
	lines := strings.Contains(text[at:at+n], "\n")
	for ; ; by++ {
		off := at + by
		if border(text, off) && border(text, off+n) {
			moved := text[off : off+n]
			cost := 1
			if !deleted {
				cost += cutAt(around(was, off+toBefore), before, off+toBefore, off+toBefore, moved)
			} else if from, to := around(was, off), around(was, off+n); from == to {
				cost += cutAt(from, before, off, off+n, moved) // rated as an insertion there
			} else { // a token loses one delimiter and keeps the other
				cost += cutAt(from, before, off, off, moved) + cutAt(to, before, off+n, off+n, moved) + cutsToken
			}
			whole := lines && strings.HasSuffix(moved, "\n") && (off == 0 || text[off-1] == '\n')
			if whole {
				cost--
			}
			if cost < bestCost || cost == bestCost && (whole || by <= 0) {
				best, bestCost = by, cost
			}
		}
		if by >= most || text[off] != text[off+n] {
			return best
		}
	}
}

// border reports whether a text may be cut at an offset: not within a character or a CRLF.
func border(text string, off int) bool {
	return off == len(text) || utf8.RuneStart(text[off]) && (text[off] != '\n' || off == 0 || text[off-1] != '\r')
}

const (
	cutsWord  = 2
	cutsLine  = 2 // within a mark
	cutsMark  = 4
	cutsToken = 8 // in a comment, or between a delimiter and its mark
)

// cutAt returns the cost of putting text into before in place of the bytes from off to to. t is the token there, nil
// for none. In a mark whose lines begin with their line breaks, text should begin with one too, because it is shown
// outside of the mark.
func cutAt(t *token, before string, off, to int, text string) int {
	cost := 0
	if glued(before[:off], before[to:]) {
		cost = cutsWord
	}
	if t == nil {
		return cost
	}
	starts := func(s string) bool { return strings.HasPrefix(strings.TrimPrefix(s, "\r"), "\n") }
	if t.comment || off < t.body.Start || to > t.body.End {
		return cutsToken
	}
	switch head, tail := before[t.body.Start:off], before[to:t.body.End]; {
	case head == "", tail == "":
		return cost
	case starts(head):
		if starts(text) && starts(tail) {
			return cutsLine
		}
	case strings.HasSuffix(text, "\n") && strings.HasSuffix(head, "\n"):
		return cutsLine
	}
	return cutsMark + cost
}

type adoption struct {
	before, after string
	kept          []Span  // shared by the texts
	was           []token // tokens of before
	stands        []stand // their delimiters in after
	known         words   // words of before
	torn          []half
	loose         []diffwrap.Span       // spans of before: torn delimiters that are no longer at their place
	whole         map[int]diffwrap.Span // by index of was: the span in after where a deleted token is complete again
	isTorn        map[int]bool          // by offset in after
	wasTorn       map[int]bool          // by offset in before, of torn delimiters
}

// delimitersIn returns the delimiters in a text, part of a mark or not. They do not overlap.
func delimitersIn(text string) (list []diffwrap.Span) {
	for at := 0; at+3 <= len(text); {
		i := strings.IndexAny(text[at:], "+-~<{")
		if i < 0 {
			break
		}
		at += i
		if at+3 <= len(text) && slices.Contains(delimiters, text[at:at+3]) {
			list = append(list, diffwrap.Span{Start: at, End: at + 3})
			at += 2
		}
		at++
	}
	return list
}

var delimiters = []string{"{++", "++}", "{--", "--}", "{~~", "~~}", "{>>", "<<}"}

// stand has the delimiters of a token that still exist, in after.
type stand struct {
	open, close   diffwrap.Span
	opens, closes bool
}

// half is a delimiter in after that marks nothing because its other half was deleted, and its old span.
type half struct {
	at, was diffwrap.Span
	stays   bool // it was torn before
}

type reading struct {
	is    []token
	same  []int         // index of was to the same token in is, or -1
	to    []int         // index of was to the token of is that it moved to, or -1
	lines [][]Moved     // by index of was: moved lines
	fresh []int         // new tokens, as indexes of is
	held  map[int]bool  // by offset: delimiters of one token that no longer form its pair
	owned map[int]bool  // by offset: delimiters of rewritten tokens
	freed map[int]bool  // by offset: remaining delimiters of moved tokens
	moved map[int]Moved // by index of was: one delimiter stays around the text, this is the other one
}

// maxTorn bounds how often after is parsed again without torn delimiters.
const maxTorn = 16

// adopt finds out which marks stay, which have moved, and which are torn.
func (a *adoption) adopt(edits []diffwrap.Edit, torn []diffwrap.Span) Adopted {
	untouched := true
	forth := Flip(a.kept)
	a.stands = make([]stand, len(a.was))
	for i, t := range a.was {
		s := &a.stands[i]
		s.open, s.opens = Back(forth, t.open)
		s.close, s.closes = Back(forth, t.close)
		_, all := Back(forth, t.whole())
		untouched = untouched && all
	}
	for _, t := range torn {
		if is, ok := Back(forth, t); ok {
			a.torn, a.isTorn[is.Start], a.wasTorn[t.Start] = append(a.torn, half{is, t, true}), true, true
		} else {
			a.loose = append(a.loose, t)
		}
	}
	if untouched && len(a.loose) == 0 && !slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return hasMarkup(e.New) }) {
		return Adopted{Edits: edits}
	}
	cut := slices.Clone(a.loose) // delimiters that were cut
	for i, t := range a.was {
		if !a.stands[i].opens {
			cut = append(cut, t.open)
		}
		if !a.stands[i].closes {
			cut = append(cut, t.close)
		}
	}
	slices.SortFunc(cut, byStart)
	a.kept = Flip(outside(forth, cut))
	var typed []diffwrap.Span
	for _, s := range delimitersIn(a.after) {
		if _, whole := Back(a.kept, s); !whole {
			typed = append(typed, s)
		}
	}
	a.kept = outside(a.kept, typed)
	a.untangle()
	r := a.read()
	for n := 0; n < maxTorn && a.tear(r); n++ {
		r = a.read()
	}
	return a.conclude(r)
}

// untangle tears the marks that a save nested or interleaved with others: marks do not nest.
func (a *adoption) untangle() {
	type stretch struct {
		diffwrap.Span
		token int // index of was; -1 for a token inserted whole
	}
	a.whole = make(map[int]diffwrap.Span)
	var list []stretch
	tries := 0
	for i, t := range a.was {
		if s := a.stands[i]; s.opens && s.closes {
			list = append(list, stretch{diffwrap.Span{Start: s.open.Start, End: s.close.End}, i})
		} else if tries++; tries <= maxTries && isTelling(t.body.Of(a.before)) {
			text := t.whole().Of(a.before)
			for at := 0; ; at++ {
				n := strings.Index(a.after[at:], text)
				if n < 0 {
					break
				}
				at += n
				is := diffwrap.Span{Start: at, End: at + len(text)}
				if !a.keeps(diffwrap.Span{Start: is.Start, End: is.Start + t.open.Len()}) && !a.keeps(diffwrap.Span{Start: is.End - t.close.Len(), End: is.End}) {
					if !slices.ContainsFunc(list, func(x stretch) bool { return x.Span == is }) {
						list = append(list, stretch{is, -1})
						a.whole[i] = is
						break
					}
				}
			}
		}
	}
	slices.SortFunc(list, func(x, y stretch) int { return x.Start - y.Start })
	var last *stretch
	for i := range list {
		x := &list[i]
		if last != nil && x.Start < last.End {
			if last.token < 0 {
				x, last = last, x
			}
			if k := last.token; k >= 0 {
				s := &a.stands[k]
				for _, h := range []half{{s.open, a.was[k].open, false}, {s.close, a.was[k].close, false}} {
					a.torn, a.isTorn[h.at.Start], a.wasTorn[h.was.Start] = append(a.torn, h), true, true
				}
				s.opens, s.closes = false, false
			}
		}
		if last == nil || x.End > last.End || last.token >= 0 && !a.stands[last.token].opens {
			last = x
		}
	}
}

// read parses after without torn delimiters.
func (a *adoption) read() *reading {
	r := &reading{
		held: make(map[int]bool), owned: make(map[int]bool), freed: make(map[int]bool), moved: make(map[int]Moved),
	}
	var torn []diffwrap.Span
	for _, h := range a.torn {
		torn = append(torn, h.at)
	}
	r.is = tokensOf(Without(a.after, torn))
	edges := make(map[int]int) // delimiter offset to token
	for k, t := range r.is {
		edges[t.open.Start], edges[t.close.Start] = k, k
	}
	stays := make([]bool, len(r.is))
	r.same, r.to, r.lines = make([]int, len(a.was)), make([]int, len(a.was)), make([][]Moved, len(a.was))
	for i, s := range a.stands {
		r.same[i], r.to[i] = -1, -1
		if !s.opens || !s.closes {
			continue
		}
		if k, ok := edges[s.open.Start]; ok && r.is[k].open == s.open && r.is[k].close == s.close {
			r.same[i], stays[k] = k, true
		} else {
			r.held[s.open.Start], r.held[s.close.Start] = true, true
		}
	}
	for i, is := range a.whole {
		t := a.was[i]
		open := diffwrap.Span{Start: is.Start, End: is.Start + t.open.Len()}
		close := diffwrap.Span{Start: is.End - t.close.Len(), End: is.End}
		if k, ok := edges[is.Start]; ok && r.is[k].whole() == is {
			r.to[i], stays[k], r.lines[i] = k, true, []Moved{{t.body, r.is[k].body}}
		} else {
			r.held[open.Start], r.held[close.Start] = true, true
		}
	}
	for i, s := range a.stands {
		k, ok := edges[s.open.Start]
		if s.closes {
			k, ok = edges[s.close.Start]
		}
		if s.opens == s.closes || !ok || stays[k] {
			continue
		}
		if moved, ok := a.stretched(&a.was[i], &r.is[k], s); ok && !r.holds(r.is[k]) {
			r.same[i], stays[k], r.moved[i] = k, true, moved
		}
	}
	for k := range r.is {
		if !stays[k] {
			r.fresh = append(r.fresh, k)
		}
	}
	a.findMoved(r)
	for i, s := range a.stands {
		if r.to[i] >= 0 && s.opens {
			r.freed[s.open.Start] = true
		}
		if r.to[i] >= 0 && s.closes {
			r.freed[s.close.Start] = true
		}
	}
	for _, k := range r.fresh {
		t := r.is[k]
		if text := t.body.Of(a.after); !r.holds(t) && hasWord(text) && !a.known.has(text) {
			r.owned[t.open.Start], r.owned[t.close.Start] = true, true
		}
	}
	return r
}

// holds reports whether a token contains a held delimiter, also as one of its own.
func (r *reading) holds(t token) bool {
	for at := range r.held {
		if t.open.Start <= at && at <= t.close.Start {
			return true
		}
	}
	return false
}

// stretched reports whether one delimiter of a token stays around its text while the other was moved; m is that move.
func (a *adoption) stretched(was, is *token, s stand) (m Moved, ok bool) {
	switch {
	case s.opens && s.open == is.open:
		m = Moved{was.close, is.close}
	case s.closes && s.close == is.close:
		m = Moved{was.open, is.open}
	default:
		return m, false
	}
	return m, m.From.Of(a.before) == m.To.Of(a.after) && !a.keeps(m.To) && a.letters(was.body, is.body) > 0
}

// maxTries bounds the marks that a deleted one is compared with. If a save moves more, they count as typed.
const maxTries = 64

// findMoved finds the marks whose lines were moved between delimiters of the same kind.
func (a *adoption) findMoved(r *reading) {
	kind := func(text string, t token) string { return t.open.Of(text) + t.close.Of(text) }
	free := make(map[string][]int)
	for _, k := range r.fresh {
		if t := r.is[k]; !t.comment && !r.holds(t) {
			free[kind(a.after, t)] = append(free[kind(a.after, t)], k)
		}
	}
	for i, t := range a.was {
		if _, whole := a.whole[i]; whole || t.comment || r.same[i] >= 0 || r.to[i] >= 0 || a.wasTorn[t.open.Start] || a.wasTorn[t.close.Start] {
			continue
		}
		list := free[kind(a.before, t)]
		for n := range min(len(list), maxTries) {
			lines := movedLines(a.before, t.body, a.after, r.is[list[n]].body)
			if slices.ContainsFunc(lines, func(m Moved) bool { return hasWord(m.To.Of(a.after)) }) {
				r.to[i], r.lines[i] = list[n], lines
				free[kind(a.before, t)] = slices.Delete(list, n, n+1)
				r.fresh = slices.DeleteFunc(r.fresh, func(k int) bool { return k == r.to[i] })
				break
			}
		}
	}
}

// tear finds delimiters that mark nothing: their other half was deleted, and users left them in place or moved them
// with their lines. It reports whether it found new ones.
func (a *adoption) tear(r *reading) bool {
	n := len(a.torn)
	lost := make(map[string][]diffwrap.Span) // spans of before, by text
	for _, s := range a.loose {
		if !a.wasTorn[s.Start] {
			lost[s.Of(a.before)] = append(lost[s.Of(a.before)], s)
		}
	}
	for i, t := range a.was {
		s := a.stands[i]
		_, whole := a.whole[i] // a delimiter that stays is torn in any case
		if !whole && (r.same[i] >= 0 || r.to[i] >= 0 || s.opens && s.closes) {
			continue
		}
		for _, d := range []struct {
			was, is diffwrap.Span
			stays   bool
		}{{t.open, s.open, s.opens}, {t.close, s.close, s.closes}} {
			if d.stays && !a.isTorn[d.is.Start] && !r.owned[d.is.Start] {
				a.torn, a.isTorn[d.is.Start], a.wasTorn[d.was.Start] = append(a.torn, half{d.is, d.was, false}), true, true
			} else if text := d.was.Of(a.before); !whole && !d.stays && !a.wasTorn[d.was.Start] {
				lost[text] = append(lost[text], d.was)
			}
		}
	}
	if len(a.torn) > n || len(lost) == 0 {
		return len(a.torn) > n
	}
	tear := func(at diffwrap.Span) {
		text := at.Of(a.after)
		a.torn, a.isTorn[at.Start], a.wasTorn[lost[text][0].Start] = append(a.torn, half{at, lost[text][0], false}), true, true
		lost[text] = lost[text][1:]
	}
	typed := func(at diffwrap.Span) bool { return r.freed[at.Start] || !a.keeps(at) }
	isLost := func(at diffwrap.Span) bool { return len(lost[at.Of(a.after)]) > 0 && typed(at) }
	ends := make(map[int]bool) // offsets of token delimiters
	for _, t := range r.is {
		ends[t.open.Start], ends[t.close.Start] = true, true
	}
	for _, k := range r.fresh {
		t := r.is[k]
		switch opens, closes := r.held[t.open.Start], r.held[t.close.Start]; {
		case closes && !opens && isLost(t.open):
			tear(t.open)
		case opens && !closes && isLost(t.close):
			tear(t.close)
		case !opens && !closes && isLost(t.open) && isLost(t.close) && !r.owned[t.open.Start]:
			tear(t.open)
			tear(t.close)
		}
	}
	for text := range lost { // delimiters outside tokens
		for at := 0; len(lost[text]) > 0; {
			i := strings.Index(a.after[at:], text)
			if i < 0 {
				break
			}
			s := diffwrap.Span{Start: at + i, End: at + i + len(text)}
			if at = s.End; !ends[s.Start] && !r.held[s.Start] && !a.isTorn[s.Start] && typed(s) {
				tear(s)
			}
		}
	}
	return len(a.torn) > n
}

// keeps reports whether before has some of the span of after at the corresponding place.
func (a *adoption) keeps(s diffwrap.Span) bool {
	i, _ := slices.BinarySearchFunc(a.kept, s.Start, func(x Span, at int) int { return x.B + x.N - at - 1 })
	return i < len(a.kept) && a.kept[i].B < s.End
}

func (a *adoption) conclude(r *reading) Adopted {
	var done Adopted
	var gone, new []diffwrap.Span // gone: spans of before without kept text; new: new spans of after
	for i, t := range a.was {
		if r.same[i] < 0 && r.to[i] < 0 && !t.comment {
			done.Plain = append(done.Plain, t.body)
		}
		m, stretched := r.moved[i]
		switch k, s := r.same[i], a.stands[i]; {
		case stretched:
			done.Moved = append(done.Moved, m)
		case k >= 0 && !a.isRewritten(i, r.is[k].body):
		case k >= 0:
			gone, new = append(gone, t.whole()), append(new, r.is[k].open, r.is[k].close)
		case r.to[i] >= 0:
			gone = append(gone, t.whole())
			is := r.is[r.to[i]]
			done.Moved = append(append(done.Moved, r.lines[i]...), Moved{t.open, is.open}, Moved{t.close, is.close})
		case s.opens && s.closes, s.opens && r.owned[s.open.Start], s.closes && r.owned[s.close.Start]:
			gone = append(gone, t.whole())
		case a.letters(t.body, diffwrap.Span{End: len(a.after)}) == 0:
			gone = append(gone, t.body)
		}
	}
	for _, k := range r.fresh {
		new = append(new, r.is[k].open, r.is[k].close)
	}
	for _, h := range a.torn {
		if h.stays {
			continue
		}
		done.Torn = append(done.Torn, Moved{h.was, h.at})
		gone, new = append(gone, h.was), append(new, h.at)
	}
	for _, m := range done.Moved {
		new = append(new, m.To)
	}
	gone, new = union(gone), union(new)
	slices.SortFunc(done.Torn, byTo)
	slices.SortFunc(done.Moved, byTo)
	done.Edits = scriptOf(outside(Flip(outside(Flip(a.kept), gone)), new), a.before, a.after)
	return done
}

// union merges the ranges of list that overlap or touch, and sorts them.
func union(list []diffwrap.Span) (all []diffwrap.Span) {
	slices.SortFunc(list, byStart)
	for _, s := range list {
		if n := len(all) - 1; n >= 0 && s.Start <= all[n].End {
			all[n].End = max(all[n].End, s.End)
		} else {
			all = append(all, s)
		}
	}
	return all
}

func byTo(x, y Moved) int { return x.To.Start - y.To.Start }

func byStart(x, y diffwrap.Span) int { return x.Start - y.Start }

// isRewritten reports whether a mark's text was replaced: less than half of its letters stay, others were typed, and
// the change goes beyond the mark's delimiters on at least one side.
func (a *adoption) isRewritten(i int, is diffwrap.Span) bool {
	t := a.was[i]
	stays := a.letters(t.body, is)
	if letters(is.Of(a.after)) == stays || 2*stays >= letters(t.body.Of(a.before)) {
		return false
	}
	if stays == 0 && strings.HasPrefix(t.open.Of(a.before), "{~~") {
		return true // both texts were replaced
	}
	forth := Flip(a.kept)
	_, before := Back(forth, diffwrap.Span{Start: max(0, t.open.Start-1), End: t.open.End})
	_, behind := Back(forth, diffwrap.Span{Start: t.close.Start, End: min(len(a.before), t.close.End+1)})
	changed := func(k int) bool {
		_, whole := Back(forth, a.was[k].whole())
		return !whole
	}
	for k := i; k > 0 && a.was[k-1].close.End == a.was[k].open.Start; k-- {
		before = before && !changed(k-1)
	}
	for k := i; k+1 < len(a.was) && a.was[k].close.End == a.was[k+1].open.Start; k++ {
		behind = behind && !changed(k+1)
	}
	return !before || !behind
}

// letters returns how many letters of was are still in is.
func (a *adoption) letters(was, is diffwrap.Span) (n int) {
	i, _ := slices.BinarySearchFunc(a.kept, was.Start, func(x Span, at int) int { return x.A + x.N - at - 1 })
	for ; i < len(a.kept) && a.kept[i].A < was.End; i++ {
		s := a.kept[i]
		from, to := max(s.A, was.Start, is.Start-s.B+s.A), min(s.A+s.N, was.End, is.End-s.B+s.A)
		if from < to {
			n += letters(a.before[from:to])
		}
	}
	return n
}

// movedLines finds the lines of a mark's text in another mark's text. A line includes the break before it, or, if the
// text does not begin with a break, the one after it.
func movedLines(before string, from diffwrap.Span, after string, to diffwrap.Span) (moved []Moved) {
	free := []diffwrap.Span{to}
	for at := from.Start; at < from.End; {
		end := from.End
		if i := strings.IndexByte(before[at+1:from.End], '\n'); i >= 0 {
			if end = at + 1 + i; before[from.Start] != '\n' {
				end++
			}
		}
		line := diffwrap.Span{Start: at, End: end}
		at = end
		for i, f := range free {
			off := strings.LastIndex(f.Of(after), line.Of(before))
			if off < 0 {
				continue
			}
			is := diffwrap.Span{Start: f.Start + off, End: f.Start + off + line.End - line.Start}
			free = slices.Replace(free, i, i+1, diffwrap.Span{Start: f.Start, End: is.Start}, diffwrap.Span{Start: is.End, End: f.End})
			moved = append(moved, Moved{line, is})
			break
		}
	}
	return moved
}

// outside returns the parts of spans that lie outside of the ranges of the second state. The ranges are in order and do
// not overlap.
func outside(spans []Span, of []diffwrap.Span) (left []Span) {
	for _, s := range spans {
		for len(of) > 0 && of[0].End <= s.B {
			of = of[1:]
		}
		for i := 0; i < len(of) && of[i].Start < s.B+s.N; i++ {
			if n := of[i].Start - s.B; n > 0 {
				left = append(left, Span{s.A, s.B, n})
			}
			cut := min(s.N, of[i].End-s.B)
			s = Span{s.A + cut, s.B + cut, s.N - cut}
		}
		if s.N > 0 {
			left = append(left, s)
		}
	}
	return left
}

type words map[string]bool

func wordsIn(text string) words {
	set := make(words)
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) }) {
		set[w] = true
	}
	return set
}

// has reports whether text contains a word of the set.
func (set words) has(text string) bool {
	for w := range wordsIn(text) {
		if set[w] {
			return true
		}
	}
	return false
}

// isTelling reports whether a text has words or part of a comment.
func isTelling(s string) bool { return hasWord(s) || strings.ContainsAny(s, "{}") }

// isWord reports whether a character is part of a word, or is one by itself, as emoji are.
func isWord(r rune) bool { return InWord(r) || unicode.Is(unicode.So, r) }

func hasWord(s string) bool { return strings.ContainsFunc(s, isWord) }

func letters(s string) (n int) {
	for _, r := range s {
		if isWord(r) {
			n++
		}
	}
	return n
}
