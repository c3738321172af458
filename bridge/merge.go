package bridge

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// A writer computes its text from a version it was shown. By the time it
// writes, the note may have moved on. mergeView carries what the writer
// changed over to the view as it is now: characters the writer kept or dropped
// are found by their identity in the CRDT (or, for a note without a Doc, by
// diff), so that text a person typed meanwhile stays, whether inside, beside or
// far from the change.

// span is a piece of text that two states share: n bytes at a in the one and
// at b in the other.
type span struct{ a, b, n int }

// Side is a state of a note as one side of a merge.
type Side struct {
	Raw       string          // what is stored
	Marked    string          // Raw after the edits Separated, whose view Text is
	Text      string          // what readers are shown
	Separated []diffwrap.Edit // from Raw to Marked
	Runs      []ycrdt.Run     // the identities of Raw's characters; nil if they are not known
}

// rawSide is a state as a reader of the raw text sees it.
func rawSide(raw string, runs []ycrdt.Run) Side {
	return Side{Raw: raw, Marked: raw, Text: raw, Runs: runs}
}

// nearestBase picks the text that another one was most likely computed from: the
// one that differs least from it, the last of several. Taking an older one
// would bring in a person's words a second time.
func nearestBase(bases []string, text string) int {
	last := len(bases) - 1
	if !slices.ContainsFunc(bases, func(s string) bool { return s != bases[0] }) {
		return last // nothing to choose
	}
	best, bestSize := -1, 0
	for i, s := range slices.Backward(bases) {
		if s == text {
			return i
		}
		if best >= 0 && bases[best] == s {
			continue
		}
		size := editSize(diffwrap.Diff(s, text))
		if best < 0 || size < bestSize {
			best, bestSize = i, size
		}
	}
	return best
}

func editSize(edits []diffwrap.Edit) int {
	n := 0
	for _, e := range edits {
		n += e.Len + len(e.New)
	}
	return n
}

// mergeView returns the view text that results when a writer who was shown base
// wrote text, and the note is at cur now.
func mergeView(base, cur Side, text string) string {
	if base.Raw == cur.Raw {
		return text
	}
	if added, ok := strings.CutPrefix(text, base.Text); ok {
		return cur.Text + added // an append stays an append
	}
	return rebase(base.Text, cur.Text, sharedView(base, cur), savedEdits(base.Text, text))
}

// wholeWords lets a script of text replace words as a whole where it replaces a part of
// them: else letters that an old and a new word have in common would be taken for text
// that the writer kept, and two writers' words would mix.
func wholeWords(text string, edits []diffwrap.Edit) []diffwrap.Edit {
	var out []diffwrap.Edit
	for i := 0; i < len(edits); {
		start, end := wordsCut(text, edits[i])
		n := 1
		for i+n < len(edits) {
			from, to := wordsCut(text, edits[i+n])
			if from > end {
				break
			}
			start, end = min(start, from), max(end, to)
			n++
		}
		group := edits[i : i+n]
		i += n
		if !replaces(group) {
			out = append(out, group...)
			continue
		}
		whole := diffwrap.Edit{Off: start, Len: end - start}
		at := start
		for _, e := range group {
			whole.New += text[at:e.Off] + e.New
			at = e.Off + e.Len
		}
		whole.New += text[at:end]
		out = append(out, whole)
	}
	return out
}

// savedEdits are what a save changed, found by comparing the texts, in a form that goes
// together with what others change there: words as a whole, and lines with the breaks
// behind them.
func savedEdits(before, after string) []diffwrap.Edit {
	return wholeLines(before, wholeWords(before, diffwrap.Diff(before, after)))
}

// wholeLines lets a script of text that takes lines away, or puts some there, do so from
// the beginning of a line to that of another: of two breaks, the one that stays is the
// one before them. What somebody else puts in the place of such lines would stand at the
// end of the line before them, which may be the last one of the front matter.
func wholeLines(text string, edits []diffwrap.Edit) []diffwrap.Edit {
	for i := range edits {
		e := &edits[i]
		end := len(text)
		if i+1 < len(edits) {
			end = edits[i+1].Off
		}
		for e.Len == 0 || e.New == "" {
			changed := e.New + text[e.Off:e.Off+e.Len] // one of the two
			n := breakLen(changed)
			if n == 0 || n != breakLen(text[e.Off+e.Len:end]) {
				break
			}
			e.Off += n
			if e.Len == 0 {
				e.New = e.New[n:] + e.New[:n]
			}
		}
	}
	return edits
}

// breakLen is the length of the line break at the beginning of s, 0 if there is none.
func breakLen(s string) int {
	switch {
	case strings.HasPrefix(s, "\r\n"):
		return 2
	case strings.HasPrefix(s, "\n"):
		return 1
	}
	return 0
}

// replaces says whether edits both take text away and put some there.
func replaces(edits []diffwrap.Edit) bool {
	return slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.Len > 0 }) &&
		slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.New != "" })
}

// wordsCut is the stretch of text that an edit changes, with all of the words that it cuts: words
// that it begins or ends beside are none of those.
func wordsCut(text string, e diffwrap.Edit) (start, end int) {
	start, end = e.Off, e.Off+e.Len
	gone := text[start:end]
	first, _ := utf8.DecodeRuneInString(gone)
	last, _ := utf8.DecodeLastRuneInString(gone)
	typedFirst, _ := utf8.DecodeRuneInString(e.New)
	typedLast, _ := utf8.DecodeLastRuneInString(e.New)
	for start > 0 && (inWord(first) || inWord(typedFirst)) {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		if !inWord(r) {
			break
		}
		start -= n
	}
	for end < len(text) && (inWord(last) || inWord(typedLast)) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if !inWord(r) {
			break
		}
		end += n
	}
	return start, end
}

// inWord says whether words are made of such characters. In scripts without spaces each
// character is taken for a word.
func inWord(r rune) bool {
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// sharedView returns the spans of base's view that cur's view still shows.
func sharedView(base, cur Side) []span {
	var raw []span
	if base.Runs != nil && cur.Runs != nil {
		raw = toBytes(sharedRuns(base.Runs, cur.Runs), base.Raw, cur.Raw)
	} else {
		raw = keptSpans(len(base.Raw), savedEdits(base.Raw, cur.Raw))
	}
	view := compose(compose(flip(base.shown()), raw), cur.shown())
	return keptSpans(len(base.Text), wholeWords(base.Text, scriptOf(view, base.Text, cur.Text)))
}

// scriptOf are the edits that make cur of base and keep what they share.
func scriptOf(shared []span, base, cur string) (edits []diffwrap.Edit) {
	a, b := 0, 0
	for _, s := range append(slices.Clip(shared), span{len(base), len(cur), 0}) {
		if s.a > a || s.b > b {
			edits = append(edits, diffwrap.Edit{Off: a, Len: s.a - a, New: cur[b:s.b]})
		}
		a, b = s.a+s.n, s.b+s.n
	}
	return edits
}

// shown maps the raw text to the view of it.
func (s Side) shown() []span {
	if s.Raw == s.Text {
		return []span{{0, 0, len(s.Raw)}}
	}
	segs := diffwrap.Segments(s.Marked, diffwrap.AcceptedView)
	spans := make([]span, len(segs))
	for i, seg := range segs {
		spans[i] = span{seg.RawOff, seg.ViewOff, seg.Len}
	}
	if s.Separated == nil {
		return spans
	}
	return compose(keptSpans(len(s.Raw), s.Separated), spans)
}

// keptSpans returns what an edit script leaves in place.
func keptSpans(size int, edits []diffwrap.Edit) []span {
	var spans []span
	a, b := 0, 0
	for _, e := range edits {
		if n := e.Off - a; n > 0 {
			spans = append(spans, span{a, b, n})
		}
		b += e.Off - a + len(e.New)
		a = e.Off + e.Len
	}
	if a < size {
		spans = append(spans, span{a, b, size - a})
	}
	return spans
}

// sharedRuns returns the spans, in UTF-16 units, of the characters that both
// lists of runs name. A CRDT keeps the order of characters, so both lists name
// them in the same order; what was brought back in another place is not shared.
func sharedRuns(base, cur []ycrdt.Run) []span {
	index := newRunIndex(cur)
	var spans []span
	pos := 0
	for _, r := range base {
		spans = index.appendShared(spans, r, pos)
		pos += r.Len
	}
	end := 0
	return slices.DeleteFunc(spans, func(s span) bool {
		if s.b < end {
			return true
		}
		end = s.b + s.n
		return false
	})
}

// runIndex finds where a character of one state is in another.
type runIndex map[ycrdt.ClientID][]placedRun

type placedRun struct {
	clock uint64
	n     int
	pos   int // UTF-16 units
}

func newRunIndex(runs []ycrdt.Run) runIndex {
	index := make(runIndex)
	pos := 0
	for _, r := range runs {
		c := r.ID.Client
		index[c] = append(index[c], placedRun{r.ID.Clock, r.Len, pos})
		pos += r.Len
	}
	for _, placed := range index {
		slices.SortFunc(placed, func(x, y placedRun) int { return cmp.Compare(x.clock, y.clock) })
	}
	return index
}

// appendShared adds the pieces of run r, which lies at pos in its own state,
// that the indexed state holds too.
func (index runIndex) appendShared(spans []span, r ycrdt.Run, pos int) []span {
	placed := index[r.ID.Client]
	end := r.ID.Clock + uint64(r.Len)
	i, _ := slices.BinarySearchFunc(placed, r.ID.Clock, func(p placedRun, clock uint64) int {
		return cmp.Compare(p.clock+uint64(p.n)-1, clock)
	})
	for ; i < len(placed) && placed[i].clock < end; i++ {
		p := placed[i]
		from := max(p.clock, r.ID.Clock)
		to := min(p.clock+uint64(p.n), end)
		spans = append(spans, span{
			a: pos + int(from-r.ID.Clock),
			b: p.pos + int(from-p.clock),
			n: int(to - from),
		})
	}
	return spans
}

// toBytes converts spans of UTF-16 units of two texts to spans of bytes, of whole
// characters. An identity does not vouch for its unit: of a surrogate pair that a client
// has cut, each half is a U+FFFD since. So the spans hold what is the same in both texts.
func toBytes(spans []span, a, b string) []span {
	ca, cb := newCursor(a), newCursor(b)
	out := make([]span, 0, len(spans))
	for _, s := range spans {
		out = appendSame(out, &ca, &cb, s)
	}
	return out
}

// appendSame adds the characters that are the same in both texts within s, which counts
// UTF-16 units.
func appendSame(out []span, ca, cb *utf16Cursor, s span) []span {
	for done := 0; done < s.n; done = max(ca.pos-s.a, cb.pos-s.b) {
		same := span{a: ca.offAt(s.a + done), b: cb.offAt(s.b + done)}
		switch {
		case same.a == len(ca.text) || same.b == len(cb.text):
			return out
		case ca.pos-s.a != cb.pos-s.b:
			continue // one is behind a pair of which the other has the halves
		}
		ca.step()
		cb.step()
		if ca.text[same.a:ca.off] == cb.text[same.b:cb.off] {
			same.n = ca.off - same.a
			out = appendSpan(out, same)
		}
	}
	return out
}

// appendSpan adds s, joined to the last span where it goes on from that in both texts.
func appendSpan(out []span, s span) []span {
	if k := len(out) - 1; k >= 0 && out[k].a+out[k].n == s.a && out[k].b+out[k].n == s.b {
		out[k].n += s.n
		return out
	}
	return append(out, s)
}

// flip exchanges the two sides.
func flip(spans []span) []span {
	out := make([]span, len(spans))
	for i, s := range spans {
		out[i] = span{s.b, s.a, s.n}
	}
	return out
}

// compose chains two ascending maps: what x takes from a to b and y from b to c.
func compose(x, y []span) []span {
	var out []span
	for i, j := 0, 0; i < len(x) && j < len(y); {
		from := max(x[i].b, y[j].a)
		to := min(x[i].b+x[i].n, y[j].a+y[j].n)
		if from < to {
			out = append(out, span{x[i].a + from - x[i].b, y[j].b + from - y[j].a, to - from})
		}
		if x[i].b+x[i].n < y[j].a+y[j].n {
			i++
		} else {
			j++
		}
	}
	return out
}

// rebase applies edits, a script against base, to cur, given what the two
// share. A change that both made in the same words is made once; otherwise what
// cur has of its own stays.
func rebase(base, cur string, shared []span, edits []diffwrap.Edit) string {
	r := rebaser{base: base, cur: cur, shared: shared}
	for _, e := range edits {
		r.apply(e)
	}
	r.out.WriteString(cur[r.done:])
	return r.out.String()
}

type rebaser struct {
	base, cur string
	shared    []span // ascending on both sides
	next      int    // first span that does not end before the current edit
	out       strings.Builder
	tail      string // what was written to out last
	done      int    // bytes of cur already in out
}

func (r *rebaser) apply(e diffwrap.Edit) {
	for r.next < len(r.shared) && r.shared[r.next].a+r.shared[r.next].n < e.Off {
		r.next++
	}
	if r.alreadyMade(e) {
		return
	}
	r.copyTo(r.insertAt(e))
	r.insert(e)
	for i := r.next; i < len(r.shared) && r.shared[i].a < e.Off+e.Len; i++ {
		s := r.shared[i]
		from := max(s.a, e.Off)
		to := min(s.a+s.n, e.Off+e.Len)
		if from < to {
			if s.b+from-s.a > r.done {
				r.part(e)
			}
			r.copyTo(s.b + from - s.a)
			r.done = s.b + to - s.a
		}
	}
	r.part(e)
}

// part keeps the new text of e, if that was written last, and what the other side put
// behind it from becoming one word.
func (r *rebaser) part(e diffwrap.Edit) {
	if e.New != "" && r.tail == e.New && glued(e.New, r.cur[r.done:]) && !glued(e.New, r.base[e.Off+e.Len:]) {
		r.write(" ")
	}
}

// insert writes e's new text. Where the other side put text in the same place,
// the two do not become one word.
func (r *rebaser) insert(e diffwrap.Edit) {
	if e.New == "" {
		return
	}
	if glued(r.tail, e.New) && !glued(r.base[:e.Off], e.New) {
		r.write(" ")
	}
	r.write(e.New)
}

// glued says whether a's last and b's first character would form one word.
func glued(a, b string) bool {
	last, _ := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	return isWordRune(last) && isWordRune(first)
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// write adds s to the result.
func (r *rebaser) write(s string) {
	if s != "" {
		r.out.WriteString(s)
		r.tail = s
	}
}

// copyTo copies cur up to off.
func (r *rebaser) copyTo(off int) {
	if off > r.done {
		r.write(r.cur[r.done:off])
		r.done = off
	}
}

// insertAt is the place in cur for the new text of e. What replaces text goes
// before the first of it that is still there, or behind what cur has put in its
// place; what is added goes behind the character before it, or if that is gone, before
// the one behind it, or if that is gone too, behind the nearest shared one before it.
func (r *rebaser) insertAt(e diffwrap.Edit) int {
	at, near, end := 0, 0, e.Off+e.Len // near is in base what at is in cur
	for i := max(r.next-1, 0); i < len(r.shared); i++ {
		s := r.shared[i]
		if s.a < e.Off {
			n := min(s.n, e.Off-s.a)
			at, near = s.b+n, s.a+n
		}
		switch {
		case e.Len == 0 && s.a >= e.Off:
			if near < e.Off && s.a == e.Off {
				return s.b
			}
			return at
		case e.Len > 0 && s.a+s.n > e.Off: // the first shared character from e on
			return s.b + max(e.Off-s.a, 0)
		case s.a >= end:
			return s.b
		}
	}
	if e.Len > 0 || near < e.Off && e.Off == len(r.base) {
		return len(r.cur)
	}
	return at
}

// alreadyMade says whether cur replaced exactly the bytes that e replaces by
// exactly what e puts there.
func (r *rebaser) alreadyMade(e diffwrap.Edit) bool {
	if e.New == "" || e.Len == 0 {
		return false // deleting twice is harmless, and two equal insertions are two
	}
	left, right := span{}, span{a: len(r.base), b: len(r.cur)}
	for i := max(r.next-1, 0); i < len(r.shared); i++ {
		s := r.shared[i]
		if s.a+s.n <= e.Off {
			left = s
			continue
		}
		if s.a >= e.Off+e.Len {
			right = s
			break
		}
		if s.a < e.Off {
			left = span{s.a, s.b, e.Off - s.a}
		}
		if s.a+s.n > e.Off+e.Len {
			skip := max(e.Off+e.Len-s.a, 0)
			right = span{s.a + skip, s.b + skip, s.n - skip}
			break
		}
		if s.a >= e.Off {
			return false // cur still has bytes that e drops
		}
	}
	return left.a+left.n == e.Off && right.a == e.Off+e.Len &&
		r.cur[left.b+left.n:right.b] == e.New
}

// applyEdits makes a script of byte edits against raw in text. Edits are made
// from the first to the last: each cuts an item of the document, and cutting at
// the back of a long one would read all that is before, every time.
func applyEdits(txn *ycrdt.Txn, text *ycrdt.Text, raw string, edits []diffwrap.Edit) {
	cursor := newCursor(raw)
	moved := 0 // by the edits before, in units
	for _, e := range edits {
		pos := cursor.posAt(e.Off)
		n := cursor.posAt(e.Off+e.Len) - pos
		if n > 0 {
			text.Delete(txn, pos+moved, n)
		}
		if e.New != "" {
			text.Insert(txn, pos+moved, e.New)
		}
		moved += utf16Len(e.New) - n
	}
}
