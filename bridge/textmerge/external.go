package textmerge

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/diffwrap"
)

// ExternalChange is the effect of an external change, found by comparing the texts. The comparison treats a mark as one
// token: either the mark keeps both delimiters around most of its text, or it is deleted.
type ExternalChange struct {
	Edits  []diffwrap.Edit
	Moved  []MovedSpan     // moved parts of marks, in the order of To
	Broken []MovedSpan     // delimiters whose other half was deleted, so that they mark nothing; in the order of To
	Plain  []diffwrap.Span // texts that left their marks or belong to no mark any more, as spans of the old text
}

// MovedSpan is a part of a mark, with its spans before and after a save.
type MovedSpan struct{ From, To diffwrap.Span }

func DiffSave(before, after string) []diffwrap.Edit { return DiffExternal(before, after, nil).Edits }

// DiffExternal computes the change from an old to a new text. torn has the delimiters of the old text that already
// belong to no mark. The edits replace whole words and marks, and whole lines with the line break after them, so that
// they merge well with concurrent changes.
func DiffExternal(before, after string, torn []diffwrap.Span) ExternalChange {
	had := sync.OnceValue(func() map[string]int { return countWords(before) })
	has := sync.OnceValue(func() map[string]int { return countWords(after) })
	edits := wholeWords(before, diffwrap.Diff(before, after), func(cut diffwrap.Span) bool {
		for word := range countWords(cut.Of(before)) {
			if n := had()[word]; n > 0 && has()[word] >= n {
				return true // the word is at another place, so this is no change of it
			}
		}
		return false
	})
	if !hasMarkup(before) && len(torn) == 0 {
		slide(before, after, edits, nil)
		return ExternalChange{Edits: edits}
	}
	if slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.Len > 0 }) {
		if typed, ok := typedAround(before, after); ok {
			edits = typed
		}
	}
	old := tokensOf(Without(before, torn))
	slide(before, after, edits, old)
	a := externalDiff{before: before, after: after, oldTokens: old, oldWords: had(), isBroken: make(map[int]bool), wasBroken: make(map[int]bool), added: make(map[string]bool)}
	a.match(Unchanged(len(before), edits))
	return a.run(edits, torn)
}

// typedAround returns the edits between two texts with the same words and delimiters in the same order, except for words
// that only the new text has: a user typed around the delimiters. A comparison of whole texts may take a line for an equal
// line in another mark, and deletes a changed line if another line is equal to it.
func typedAround(before, after string) (edits []diffwrap.Edit, ok bool) {
	a, b := 0, 0
	add := func(endA, endB int) {
		for _, e := range diffwrap.Diff(before[a:endA], after[b:endB]) {
			edits = append(edits, diffwrap.Edit{Off: a + e.Off, Len: e.Len, New: e.New})
		}
	}
	words := wordOrDelimiter.FindAllStringIndex(after, -1)
	for _, w := range wordOrDelimiter.FindAllStringIndex(before, -1) {
		i := slices.IndexFunc(words, func(x []int) bool { return after[x[0]:x[1]] == before[w[0]:w[1]] })
		if i < 0 {
			return nil, false
		}
		add(w[0], words[i][0])
		a, b, words = w[1], words[i][1], words[i+1:]
	}
	add(len(before), len(after))
	return edits, len(anyDelimiter.FindAllString(before, -1)) == len(anyDelimiter.FindAllString(after, -1))
}

func hasMarkup(raw string) bool {
	return strings.Contains(raw, "{++") || strings.Contains(raw, "{--") || strings.Contains(raw, "{~~") || strings.Contains(raw, "{>>")
}

// token is a mark or comment in three parts. The body of a substitution has both of its texts.
type token struct {
	open, body, close diffwrap.Span
	comment           bool
}

func (t *token) span() diffwrap.Span { return diffwrap.Span{Start: t.open.Start, End: t.close.End} }

func tokensOf(raw string) (list []token) {
	marks, _, syntax := diffwrap.Everything.Layout(raw)
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
	for _, f := range syntax {
		if s := f.Of(raw); len(s) >= 6 && s != "{==" && s != "==}" {
			body := diffwrap.Span{Start: f.Start + 3, End: f.End - 3}
			list = append(list, token{diffwrap.Span{Start: f.Start, End: body.Start}, body, diffwrap.Span{Start: body.End, End: f.End}, true})
		}
	}
	slices.SortFunc(list, func(a, b token) int { return a.open.Start - b.open.Start })
	return list
}

// Without replaces delimiters that mark nothing by NUL bytes.
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

func around(tokens []token, off int) *token {
	i, _ := slices.BinarySearchFunc(tokens, off+1, func(t token, off int) int { return t.close.End - off })
	if i == len(tokens) || tokens[i].open.Start >= off {
		return nil
	}
	return &tokens[i]
}

// slide moves pure insertions and deletions along equal characters to the places where they cut least: outside of
// tokens if possible, and to the start of a line if they consist of whole lines.
func slide(before, after string, edits []diffwrap.Edit, old []token) {
	end, shift := 0, 0 // end of the preceding edits in before, and shift of the text after them
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
			by := place(before, text, at, n, end-e.Off, next-e.Off-e.Len, e.Off-at, e.New == "", old)
			if e.Off += by; e.Len == 0 {
				e.New = text[at+by : at+by+n]
			}
		}
		end = e.Off + e.Len
		shift += size
	}
}

// place returns the distance in bytes, between least and most, by which to move a span of text. The span has n bytes
// and starts at the given offset of text. An offset of text plus toBefore is the corresponding offset of before.
func place(before, text string, at, n, least, most, toBefore int, deleted bool, old []token) (by int) {
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
				cost += cutAt(around(old, off+toBefore), before, off+toBefore, off+toBefore, moved)
				if d := text[max(0, off-3):off]; strings.HasPrefix(d, "{") && strings.HasSuffix(text[off:off+n], d) && anyDelimiter.MatchString(d) {
					cost += cutsMark // marks were typed before a delimiter, not after it
				}
			} else if from, to := around(old, off), around(old, off+n); from == to {
				cost += cutAt(from, before, off, off+n, moved) // the cost is that of an insertion at this place
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

// border reports whether a text may be cut at an offset. It must not be cut inside a character or a CRLF.
func border(text string, off int) bool {
	return off == len(text) || utf8.RuneStart(text[off]) && (text[off] != '\n' || off == 0 || text[off-1] != '\r')
}

const (
	cutsWord  = 2
	cutsLine  = 2 // the cut is at a line boundary inside a mark
	cutsMark  = 4
	cutsToken = 8 // inside a comment, or between a delimiter and its mark
)

// cutAt returns the cost of replacing the bytes [off, to) of before with text. t is the token that contains these
// bytes, or nil. If the lines of a mark begin with their line breaks, text should begin with a line break, too, because
// it is shown outside of the mark. They do if the mark begins with a line break, or does not end in one.
func cutAt(t *token, before string, off, to int, text string) int {
	cost := 0
	if formsOneWord(before[:off], before[to:]) {
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
	case head == "" && tail != "" && formsOneWord(text, before[t.close.End:]), tail == "" && head != "" && formsOneWord(before[:t.open.Start], text):
		return cost + cutsWord // a decision on the mark would make one word of text and the word on the other side of the mark
	case head == "", tail == "":
		return cost
	case starts(head), !strings.HasSuffix(tail, "\n"):
		if starts(text) && starts(tail) {
			return cutsLine
		}
	case strings.HasSuffix(text, "\n") && strings.HasSuffix(head, "\n"):
		return cutsLine
	}
	return cutsMark + cost
}

type externalDiff struct {
	before, after     string
	matches, forth    []Match               // spans that both texts have; forth is for MapBack of old spans
	oldTokens         []token               // tokens of before
	remaining         []remainingDelimiters // by index of oldTokens: the token's delimiters in the new text
	oldWords          map[string]int        // words of before
	broken            []brokenDelimiter
	droppedDelimiters []diffwrap.Span // broken delimiters of the old text that are no longer at their place
	cut               []diffwrap.Span // droppedDelimiters and the delimiters that the change cut out of marks
	isBroken          map[int]bool    // broken delimiters, by offset in the new text
	wasBroken         map[int]bool    // broken delimiters, by offset in the old text
	added             map[string]bool // delimiters that the new text has more often
}

var (
	anyDelimiter    = regexp.MustCompile(`\{(\+\+|--|~~|>>)|(\+\+|--|~~|<<)\}`)
	wordOrDelimiter = regexp.MustCompile(anyDelimiter.String() + `|[\pL\p{Nd}\pM]+|\p{So}`)
)

// remainingDelimiters has the delimiters of a token that still exist, as spans of the new text.
type remainingDelimiters struct {
	open, close   diffwrap.Span
	opens, closes bool
	moved         bool // the whole token is at another place
}

// brokenDelimiter is a delimiter in the new text that marks nothing because the other delimiter of its pair was
// deleted. old is its span in the old text.
type brokenDelimiter struct {
	at, old   diffwrap.Span
	wasBroken bool // the delimiter was broken before, too
}

func (a *externalDiff) match(matches []Match) { a.matches, a.forth = matches, SwapSides(matches) }

func (a *externalDiff) isChanged(t token) bool {
	_, whole := MapBack(a.forth, t.span())
	return !whole
}

type parsedTokens struct {
	text      string // the new text without broken delimiters
	tokens    []token
	same      []int             // by index of oldTokens: index of the same token in tokens, or -1
	fresh     []int             // indexes of the new tokens
	unpaired  []int             // offsets of delimiters of one token that no longer form a pair
	rewritten map[int]bool      // by offset: delimiters of rewritten tokens
	moved     map[int]MovedSpan // by index of oldTokens: the moved delimiter of a token whose other delimiter stays
}

// maxReparses is the maximum number of times that the new text is parsed again without broken delimiters.
const maxReparses = 16

// run determines which marks stay, which have moved, and which are broken.
func (a *externalDiff) run(edits []diffwrap.Edit, torn []diffwrap.Span) ExternalChange {
	a.findRemaining(torn)
	for _, t := range torn {
		if current, ok := MapBack(a.forth, t); ok && a.staysBeside(t) {
			a.breakDelimiter(current, t, true)
		} else {
			a.droppedDelimiters = append(a.droppedDelimiters, t)
		}
	}
	if len(a.droppedDelimiters) == 0 && !slices.ContainsFunc(a.oldTokens, a.isChanged) && !slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return hasMarkup(e.New) }) {
		return ExternalChange{Edits: edits}
	}
	a.cut = slices.Clone(a.droppedDelimiters)
	for i, t := range a.oldTokens {
		if !a.remaining[i].opens {
			a.cut = append(a.cut, t.open)
		}
		if !a.remaining[i].closes {
			a.cut = append(a.cut, t.close)
		}
	}
	slices.SortFunc(a.cut, byStart)
	a.match(SwapSides(outside(a.forth, a.cut)))
	r := a.read()
	for n := 0; n < maxReparses && a.breakTokens(r); n++ {
		r = a.read()
	}
	return a.result(r)
}

// staysBeside reports whether a span of the old text stays beside the character before it or the one behind it. A delimiter
// that does not may have been taken for another one.
func (a *externalDiff) staysBeside(s diffwrap.Span) bool {
	_, before := MapBack(a.forth, diffwrap.Span{Start: max(0, s.Start-1), End: s.End})
	_, after := MapBack(a.forth, diffwrap.Span{Start: s.Start, End: min(len(a.before), s.End+1)})
	return before || after
}

// findRemaining finds the delimiters that stay at their places or moved with their tokens.
func (a *externalDiff) findRemaining(torn []diffwrap.Span) {
	moved := a.removeMoved(torn)
	a.remaining = make([]remainingDelimiters, len(a.oldTokens))
	for i, t := range a.oldTokens {
		s := &a.remaining[i]
		s.open, s.opens = MapBack(a.forth, t.open)
		s.close, s.closes = MapBack(a.forth, t.close)
		if current, ok := moved[i]; ok {
			s.open = diffwrap.Span{Start: current.Start, End: current.Start + t.open.Len()}
			s.close = diffwrap.Span{Start: current.End - t.close.Len(), End: current.End}
			s.opens, s.closes, s.moved = true, true, true
		}
	}
}

// maxTries is the maximum number of deleted marks that removeMoved looks for, and of deleted delimiters that are compared
// with as many of the new text. Beyond it, moved text counts as typed.
const maxTries = 64

// removeMoved removes from the matches the tokens that the change moved: the new text has them byte for byte at another
// place, not between two broken delimiters that stay. The comparison of the texts may have taken a part of such a token
// for a part of another token. It returns their new spans by index of oldTokens.
func (a *externalDiff) removeMoved(torn []diffwrap.Span) map[int]diffwrap.Span {
	var taken, moved []diffwrap.Span // spans in the new text; taken is in order
	var from []diffwrap.Span         // the moved tokens in the old text
	found := make(map[int]diffwrap.Span)
	for _, t := range a.oldTokens {
		if current, ok := MapBack(a.forth, t.span()); ok {
			taken = append(taken, current)
		}
	}
	broken := make(map[int]bool) // offsets of the broken delimiters that stay
	for _, t := range torn {
		if current, ok := MapBack(a.forth, t); ok {
			broken[current.Start] = true
		}
	}
	tries := 0
	for i, t := range a.oldTokens {
		if !a.isChanged(t) || tries == maxTries {
			continue
		}
		tries++
		text := t.span().Of(a.before)
		for at := 0; ; {
			n := strings.Index(a.after[at:], text)
			if n < 0 {
				break
			}
			current := diffwrap.Span{Start: at + n, End: at + n + len(text)}
			k, _ := slices.BinarySearchFunc(taken, current.Start+1, func(x diffwrap.Span, at int) int { return x.End - at })
			if k < len(taken) && taken[k].Start < current.End {
				at = taken[k].End
				continue
			}
			if at = current.End; broken[current.Start] && broken[current.End-t.close.Len()] {
				continue
			}
			taken, moved, found[i] = slices.Insert(taken, k, current), append(moved, current), current
			from = append(from, t.span())
			break
		}
	}
	slices.SortFunc(moved, byStart)
	a.match(SwapSides(outside(SwapSides(outside(a.matches, moved)), from)))
	return found
}

// breakPair breaks both delimiters of a token.
func (a *externalDiff) breakPair(i int) {
	s := &a.remaining[i]
	a.breakDelimiter(s.open, a.oldTokens[i].open, false)
	a.breakDelimiter(s.close, a.oldTokens[i].close, false)
	s.opens, s.closes = false, false
}

func (a *externalDiff) breakDelimiter(at, old diffwrap.Span, wasBroken bool) {
	a.broken = append(a.broken, brokenDelimiter{at, old, wasBroken})
	a.isBroken[at.Start], a.wasBroken[old.Start] = true, true
}

// read parses the new text without broken delimiters.
func (a *externalDiff) read() *parsedTokens {
	r := &parsedTokens{rewritten: make(map[int]bool), moved: make(map[int]MovedSpan)}
	var torn []diffwrap.Span
	for _, h := range a.broken {
		torn = append(torn, h.at)
	}
	r.text = Without(a.after, torn)
	r.tokens = tokensOf(r.text)
	edges := make(map[int]int) // from the offset of a delimiter to the index of its token
	for k, t := range r.tokens {
		edges[t.open.Start], edges[t.close.Start] = k, k
	}
	stays := make([]bool, len(r.tokens))
	r.same = make([]int, len(a.oldTokens))
	for i, s := range a.remaining {
		r.same[i] = -1
		if !s.opens || !s.closes {
			continue
		}
		if k, ok := edges[s.open.Start]; ok && r.tokens[k].open == s.open && r.tokens[k].close == s.close {
			r.same[i], stays[k] = k, true
		} else {
			r.unpaired = append(r.unpaired, s.open.Start, s.close.Start)
		}
	}
	slices.Sort(r.unpaired)
	for i, s := range a.remaining {
		k, ok := edges[s.open.Start]
		if s.closes {
			k, ok = edges[s.close.Start]
		}
		if s.opens == s.closes || !ok || stays[k] {
			continue
		}
		if moved, ok := a.movedDelimiter(&a.oldTokens[i], &r.tokens[k], s); ok && !r.holds(r.tokens[k].span()) {
			r.same[i], stays[k], r.moved[i] = k, true, moved
		}
	}
	for k := range r.tokens {
		if !stays[k] {
			r.fresh = append(r.fresh, k)
		}
	}
	for _, k := range r.fresh {
		t := r.tokens[k]
		text := t.body.Of(a.after)
		if old, _ := a.isOld(text); !old && hasWord(text) && !r.holds(t.span()) {
			r.rewritten[t.open.Start], r.rewritten[t.close.Start] = true, true
		}
	}
	return r
}

// holds reports whether a span of the new text contains an unpaired delimiter.
func (r *parsedTokens) holds(s diffwrap.Span) bool {
	i, _ := slices.BinarySearch(r.unpaired, s.Start)
	return i < len(r.unpaired) && r.unpaired[i] < s.End
}

// movedDelimiter reports whether one delimiter of a token stayed around the text while the other delimiter was moved, and
// no other delimiter was moved there with its line. m is that move.
func (a *externalDiff) movedDelimiter(old, current *token, s remainingDelimiters) (m MovedSpan, ok bool) {
	switch {
	case s.opens && s.open == current.open:
		m = MovedSpan{old.close, current.close}
	case s.closes && s.close == current.close:
		m = MovedSpan{old.open, current.open}
	default:
		return m, false
	}
	if _, stays := MapBack(a.matches, m.To); stays || m.From.Of(a.before) != m.To.Of(a.after) || a.letters(old.body, current.body) == 0 {
		return m, false
	}
	same := a.sameAround(m.From, m.To)
	return m, !slices.ContainsFunc(a.cut, func(x diffwrap.Span) bool {
		return x.Of(a.before) == m.From.Of(a.before) && a.sameAround(x, m.To) > same
	})
}

// breakTokens finds delimiters that mark nothing, because users deleted the other delimiter of the pair and left this
// one in place or moved it with its lines. It reports whether it found new ones.
func (a *externalDiff) breakTokens(r *parsedTokens) bool {
	n := len(a.broken)
	lost := make(map[string][]diffwrap.Span) // spans of before, by the text of the delimiter
	lose := func(was, is diffwrap.Span, stays bool) {
		if stays && !a.isBroken[is.Start] && !r.rewritten[is.Start] {
			a.breakDelimiter(is, was, false)
		} else if text := was.Of(a.before); !stays && !a.wasBroken[was.Start] {
			lost[text] = append(lost[text], was)
		}
	}
	for _, s := range a.droppedDelimiters {
		lose(s, diffwrap.Span{}, false)
	}
	for i, t := range a.oldTokens {
		s, k := a.remaining[i], r.same[i]
		if k < 0 && !(s.opens && s.closes) {
			lose(t.open, s.open, s.opens)
			lose(t.close, s.close, s.closes)
		} else if k >= 0 && s.opens && s.closes && !s.moved {
			body := r.tokens[k].body
			if some, all := a.isOld(body.Of(a.after)); r.holds(r.tokens[k].span()) || some && all && (a.isRewritten(i, body) || a.letters(t.body, body) == 0) {
				a.breakPair(i) // the delimiters stay, but another mark or other text was moved between them
			}
		}
	}
	if len(a.broken) > n {
		return true
	}
	a.tear(r, lost)
	typed := func(at diffwrap.Span) bool {
		t := around(r.tokens, at.Start+1)
		return t != nil && (a.isTyped(t.open) || a.isTyped(t.close))
	}
	for i, s := range a.remaining {
		if s.opens && s.closes && !s.moved && r.same[i] < 0 && len(a.broken) == n && !typed(s.open) && !typed(s.close) {
			a.breakPair(i) // a literal delimiter was moved between the delimiters or before them
		}
	}
	return len(a.broken) > n
}

// halfComments returns the parts of comments in marks that stay, if the other part's mark no longer exists but its text
// does. An agent that moves or deletes a comment cuts the comment's opener in two, so that the comment is in two marks.
func (a *externalDiff) halfComments(r *parsedTokens) (parts []diffwrap.Span) {
	for i := 1; i < len(a.oldTokens); i++ {
		x, y := a.oldTokens[i-1], a.oldTokens[i]
		rest, end, _ := strings.Cut(y.body.Of(a.before), "<<}")
		if x.close.End != y.open.Start || !strings.HasSuffix(x.body.Of(a.before), "{>") || !strings.HasPrefix(rest, ">") {
			continue
		}
		head, tail := diffwrap.Span{Start: x.body.End - len("{>"), End: x.body.End}, diffwrap.Span{Start: y.body.Start, End: y.body.End - len(end)}
		gone, part, half := x, head, tail
		if r.same[i] < 0 {
			gone, part, half = y, diffwrap.Span{Start: tail.Start, End: tail.Start + len(">")}, head
		}
		_, stays := MapBack(a.forth, part)
		stays = stays || a.wasBroken[gone.open.Start] || a.wasBroken[gone.close.Start] // moved text counts as typed
		if stays && (r.same[i-1] < 0) != (r.same[i] < 0) {
			parts = append(parts, half)
		}
	}
	return parts
}

// tear breaks the delimiters that may be lost ones. Those with the most text around them in common moved there with their
// lines.
func (a *externalDiff) tear(r *parsedTokens, lost map[string][]diffwrap.Span) {
	var taken []diffwrap.Span
	for k, t := range r.tokens {
		_, fresh := slices.BinarySearch(r.fresh, k)
		text := t.body.Of(a.after)
		if !fresh || r.rewritten[t.open.Start] || hasWord(text) && !strings.Contains(text, "\n") && !r.holds(t.span()) {
			taken = append(taken, t.open, t.close)
		}
	}
	for _, s := range a.remaining { // another token may hide a moved one
		if s.moved {
			taken = append(taken, s.open, s.close)
		}
	}
	left := []byte(Without(r.text, taken))
	var ats []diffwrap.Span
	for off := range left {
		for text := range lost {
			at := diffwrap.Span{Start: off, End: off + len(text)}
			if !bytes.HasPrefix(left[off:], []byte(text)) || r.holds(at) {
				continue
			}
			if _, stays := MapBack(a.matches, at); !stays {
				ats = append(ats, at)
			}
		}
	}
	type pair struct {
		was, at diffwrap.Span
		same    int
	}
	for ats := range slices.Chunk(ats, maxTries) {
		var pairs []pair
		for _, at := range ats {
			list := lost[at.Of(a.after)]
			for _, was := range list[:min(len(list), maxTries)] {
				pairs = append(pairs, pair{was, at, a.sameAround(was, at)})
			}
		}
		slices.SortStableFunc(pairs, func(x, y pair) int { return y.same - x.same })
		for _, p := range pairs {
			if at := left[p.at.Start:p.at.End]; bytes.IndexByte(at, 0) < 0 && !a.wasBroken[p.was.Start] {
				a.breakDelimiter(p.at, p.was, false)
				clear(at) // delimiters do not overlap
			}
		}
		for text := range lost {
			lost[text] = slices.DeleteFunc(lost[text], func(s diffwrap.Span) bool { return a.wasBroken[s.Start] })
		}
	}
}

// isTyped reports whether users may have typed a delimiter of the new text.
func (a *externalDiff) isTyped(at diffwrap.Span) bool {
	text := at.Of(a.after)
	if _, ok := a.added[text]; !ok {
		a.added[text] = strings.Count(a.after, text) > strings.Count(a.before, text)
	}
	_, stays := MapBack(a.matches, at)
	return a.added[text] && !stays
}

// sameAround returns the number of bytes directly before and after an old and a new span that are equal, in one line.
func (a *externalDiff) sameAround(old, current diffwrap.Span) (n int) {
	for i := 1; i <= min(old.Start, current.Start) && a.before[old.Start-i] == a.after[current.Start-i] && a.before[old.Start-i] != '\n'; i++ {
		n++
	}
	for i := 0; i < min(len(a.before)-old.End, len(a.after)-current.End) && a.before[old.End+i] == a.after[current.End+i] && a.before[old.End+i] != '\n'; i++ {
		n++
	}
	return n
}

func (a *externalDiff) result(r *parsedTokens) ExternalChange {
	done := ExternalChange{Plain: a.halfComments(r)}
	var deleted, new []diffwrap.Span // spans of before that keep no text, and new spans of after
	for i, t := range a.oldTokens {
		if k := r.same[i]; k < 0 && !t.comment {
			done.Plain = append(done.Plain, t.body)
		} else if !t.comment {
			for _, s := range outside(a.matchesOf(t.body), []diffwrap.Span{r.tokens[k].body}) {
				done.Plain = append(done.Plain, diffwrap.Span{Start: s.A, End: s.A + s.Len})
			}
		}
		m, stretched := r.moved[i]
		switch k, s := r.same[i], a.remaining[i]; {
		case stretched:
			done.Moved = append(done.Moved, m)
		case k >= 0 && s.moved:
			current := r.tokens[k]
			deleted = append(deleted, t.span())
			done.Moved = append(done.Moved, MovedSpan{t.open, current.open}, MovedSpan{t.body, current.body}, MovedSpan{t.close, current.close})
		case k >= 0 && !a.isRewritten(i, r.tokens[k].body):
		case k >= 0:
			deleted, new = append(deleted, t.span()), append(new, r.tokens[k].open, r.tokens[k].close)
		case s.opens && s.closes, s.opens && r.rewritten[s.open.Start], s.closes && r.rewritten[s.close.Start]:
			deleted = append(deleted, t.span())
		case a.letters(t.body, diffwrap.Span{End: len(a.after)}) == 0:
			deleted = append(deleted, t.body)
		}
	}
	for _, k := range r.fresh {
		new = append(new, r.tokens[k].open, r.tokens[k].close)
	}
	for _, h := range a.broken {
		if !h.wasBroken {
			deleted, new = append(deleted, h.old), append(new, h.at)
		}
	}
	for _, m := range done.Moved {
		new = append(new, m.To)
	}
	kept := outside(SwapSides(outside(SwapSides(a.matches), union(deleted))), union(new))
	for _, h := range a.broken {
		if _, stays := MapBack(kept, h.at); !stays {
			done.Broken = append(done.Broken, MovedSpan{h.old, h.at})
		}
	}
	slices.SortFunc(done.Broken, byTo)
	slices.SortFunc(done.Moved, byTo)
	done.Edits = scriptOf(kept, a.before, a.after)
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

func byTo(x, y MovedSpan) int { return x.To.Start - y.To.Start }

func byStart(x, y diffwrap.Span) int { return x.Start - y.Start }

// isRewritten reports whether a mark's text was replaced. That is so if less than half of the mark's letters stay,
// other letters were typed, and the change extends beyond the mark's delimiters on at least one side. It is also so if
// both texts of a substitution were replaced.
func (a *externalDiff) isRewritten(i int, current diffwrap.Span) bool {
	t := a.oldTokens[i]
	stays := a.letters(t.body, current)
	if letters(current.Of(a.after)) == stays || 2*stays >= letters(t.body.Of(a.before)) {
		return false
	}
	if stays == 0 && strings.HasPrefix(t.open.Of(a.before), "{~~") {
		return true // both texts of the substitution were replaced
	}
	_, before := MapBack(a.forth, diffwrap.Span{Start: max(0, t.open.Start-1), End: t.open.End})
	_, after := MapBack(a.forth, diffwrap.Span{Start: t.close.Start, End: min(len(a.before), t.close.End+1)})
	for k := i; k > 0 && a.oldTokens[k-1].close.End == a.oldTokens[k].open.Start; k-- {
		before = before && !a.isChanged(a.oldTokens[k-1])
	}
	for k := i; k+1 < len(a.oldTokens) && a.oldTokens[k].close.End == a.oldTokens[k+1].open.Start; k++ {
		after = after && !a.isChanged(a.oldTokens[k+1])
	}
	return !before || !after
}

// letters returns the number of letters of the old span that are still in the current span.
func (a *externalDiff) letters(old, current diffwrap.Span) (n int) {
	for _, s := range a.matchesOf(old) {
		from, to := max(s.A, current.Start-s.B+s.A), min(s.A+s.Len, current.End-s.B+s.A)
		if from < to {
			n += letters(a.before[from:to])
		}
	}
	return n
}

// matchesOf returns the matches within an old span.
func (a *externalDiff) matchesOf(old diffwrap.Span) (list []Match) {
	i, _ := slices.BinarySearchFunc(a.matches, old.Start, func(x Match, at int) int { return x.A + x.Len - at - 1 })
	for ; i < len(a.matches) && a.matches[i].A < old.End; i++ {
		s := a.matches[i]
		from := max(s.A, old.Start)
		list = append(list, Match{from, from - s.A + s.B, min(s.A+s.Len, old.End) - from})
	}
	return list
}

// outside returns the parts of spans that lie outside of the given ranges of the second state. The ranges are in order
// and do not overlap.
func outside(spans []Match, of []diffwrap.Span) (left []Match) {
	for _, s := range spans {
		for len(of) > 0 && of[0].End <= s.B {
			of = of[1:]
		}
		for i := 0; i < len(of) && of[i].Start < s.B+s.Len; i++ {
			if n := of[i].Start - s.B; n > 0 {
				left = append(left, Match{s.A, s.B, n})
			}
			cut := min(s.Len, of[i].End-s.B)
			s = Match{s.A + cut, s.B + cut, s.Len - cut}
		}
		if s.Len > 0 {
			left = append(left, s)
		}
	}
	return left
}

func countWords(text string) map[string]int {
	words := make(map[string]int)
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isWord(r) }) {
		words[w]++
	}
	return words
}

// isOld reports whether the old text has some word of a text, and whether it has all of them.
func (a *externalDiff) isOld(text string) (some, all bool) {
	all = true
	for w := range countWords(text) {
		some, all = some || a.oldWords[w] > 0, all && a.oldWords[w] > 0
	}
	return some, all
}

// isWord reports whether a character is part of a word, or is a whole word, as an emoji is.
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
