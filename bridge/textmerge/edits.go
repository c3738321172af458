package textmerge

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// wholeWords extends each edit that replaces part of a word to the whole word, and each deletion from one word into
// another to both words. Otherwise letters that the old and the new word share would count as kept, and two writers'
// words would mix. It also extends every edit that touches a word for which lost returns true: another writer has
// changed that word. lost may be nil.
func wholeWords(text string, edits []diffwrap.Edit, lost func(word diffwrap.Span) bool) []diffwrap.Edit {
	cut := func(e diffwrap.Edit) (start, end int) { return wordsCut(text, e) }
	return extended(text, edits, cut, func(group []diffwrap.Edit, whole diffwrap.Edit) []diffwrap.Edit {
		joined := slices.ContainsFunc(group, func(e diffwrap.Edit) bool { return joinsWords(text, e) })
		changed := replaces(group) || joined || lost != nil && lost(diffwrap.Span{Start: whole.Off, End: whole.Off + whole.Len})
		if !changed {
			return group
		}
		if whole = trimmed(text, whole); whole.Len > 0 || whole.New != "" {
			return []diffwrap.Edit{whole}
		}
		return nil
	})
}

// withComments extends each edit that deletes a delimiter of a comment to the whole comment. Otherwise a delimiter of an
// old comment would count as kept in a new one, which would get what others put beside it. With the inverse edits it does
// the same for new comments, which could otherwise keep text from outside of a comment.
func withComments(text string, edits []diffwrap.Edit, comments []token) []diffwrap.Edit {
	cut := func(e diffwrap.Edit) (start, end int) {
		start, end = e.Off, e.Off+e.Len
		if t := around(comments, start); t != nil && t.comment && start >= t.open.End && end > t.close.Start {
			start, end = t.open.Start, max(end, t.close.End)
		}
		if t := around(comments, end); t != nil && t.comment && end <= t.close.Start && e.Off < t.open.End {
			start, end = min(start, t.open.Start), t.close.End
		}
		return start, end
	}
	return extended(text, edits, cut, func(_ []diffwrap.Edit, whole diffwrap.Edit) []diffwrap.Edit {
		return []diffwrap.Edit{whole}
	})
}

// extended extends edits to the ranges that cut returns for them. It calls choose for each group of edits with touching
// ranges, and for the one edit of the whole range that they amount to, and returns the edits that choose returns.
func extended(text string, edits []diffwrap.Edit, cut func(diffwrap.Edit) (start, end int), choose func(group []diffwrap.Edit, whole diffwrap.Edit) []diffwrap.Edit) []diffwrap.Edit {
	var out []diffwrap.Edit
	for i := 0; i < len(edits); {
		start, end := cut(edits[i])
		n := 1
		for i+n < len(edits) {
			from, to := cut(edits[i+n])
			if from > end {
				break
			}
			start, end = min(start, from), max(end, to)
			n++
		}
		group := edits[i : i+n]
		i += n
		whole := diffwrap.Edit{Off: start, Len: end - start}
		at := start
		for _, e := range group {
			whole.New += text[at:e.Off] + e.New
			at = e.Off + e.Len
		}
		whole.New += text[at:end]
		out = append(out, choose(group, whole)...)
	}
	return out
}

// trimmed removes from an edit the unchanged words at its start and end.
func trimmed(text string, e diffwrap.Edit) diffwrap.Edit {
	old, new := text[e.Off:e.Off+e.Len], e.New
	n := 0
	for n < min(len(old), len(new)) && old[n] == new[n] {
		n++
	}
	for n > 0 && !(parts(old, n) && parts(new, n)) {
		n--
	}
	old, new = old[n:], new[n:]
	e.Off += n
	n = 0
	for n < min(len(old), len(new)) && old[len(old)-1-n] == new[len(new)-1-n] {
		n++
	}
	for n > 0 && !(parts(old, len(old)-n) && parts(new, len(new)-n)) {
		n--
	}
	e.Len, e.New = len(old)-n, new[:len(new)-n]
	return e
}

// parts reports whether an offset of a text is at a word boundary, or between characters outside of words.
func parts(text string, off int) bool {
	return off == len(text) || utf8.RuneStart(text[off]) && (off == 0 || !formsOneWord(text[:off], text[off:])) && !unicode.Is(unicode.Mark, runeAt(text, off))
}

func runeAt(text string, off int) rune {
	r, _ := utf8.DecodeRuneInString(text[off:])
	return r
}

func replaces(edits []diffwrap.Edit) bool {
	return slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.Len > 0 }) &&
		slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.New != "" })
}

// joinsWords reports whether an edit of text only deletes, and makes one word of parts of two.
func joinsWords(text string, e diffwrap.Edit) bool {
	start, end := wordsCut(text, e)
	notInWord := func(r rune) bool { return !joins(r) }
	return e.New == "" && start < e.Off && end > e.Off+e.Len && strings.ContainsFunc(text[e.Off:e.Off+e.Len], notInWord)
}

// wordsCut returns the range of text that an edit changes, extended to the words that it cuts. A word that only
// touches the edit is not cut.
func wordsCut(text string, e diffwrap.Edit) (start, end int) {
	start, end = e.Off, e.Off+e.Len
	deleted := text[start:end]
	first, _ := utf8.DecodeRuneInString(deleted)
	last, _ := utf8.DecodeLastRuneInString(deleted)
	typedFirst, _ := utf8.DecodeRuneInString(e.New)
	typedLast, _ := utf8.DecodeLastRuneInString(e.New)
	for start > 0 && (joins(first) || joins(typedFirst)) {
		r, n := utf8.DecodeLastRuneInString(text[:start])
		if !joins(r) {
			break
		}
		start -= n
	}
	for end < len(text) && (joins(last) || joins(typedLast)) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if !joins(r) {
			break
		}
		end += n
	}
	return start, end
}

// InWord reports whether r can be part of a word.
func InWord(r rune) bool { return unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark) }

// joins reports whether a character forms one word with the characters next to it. In scripts without spaces each
// character counts as a word.
func joins(r rune) bool {
	return InWord(r) && !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// scriptOf returns the edits from base to current that keep the text in shared. shared has the matches between base and
// current, in order.
func scriptOf(shared []Match, base, current string) (edits []diffwrap.Edit) {
	a, b := 0, 0
	for _, s := range append(slices.Clip(shared), Match{len(base), len(current), 0}) {
		if s.A > a || s.B > b {
			edits = append(edits, diffwrap.Edit{Off: a, Len: s.A - a, New: current[b:s.B]})
		}
		a, b = s.A+s.Len, s.B+s.Len
	}
	return edits
}

// inverse returns the edits of after that make text of it again. after is text with the edits.
func inverse(text string, edits []diffwrap.Edit) []diffwrap.Edit {
	back := make([]diffwrap.Edit, len(edits))
	moved := 0
	for i, e := range edits {
		back[i] = diffwrap.Edit{Off: e.Off + moved, Len: len(e.New), New: text[e.Off : e.Off+e.Len]}
		moved += len(e.New) - e.Len
	}
	return back
}

// PositionedEdit is an edit with its positions in UTF-16 units.
type PositionedEdit struct {
	diffwrap.Edit
	Pos      int // position in the text before the script
	After    int // position in the text after the script
	Deleted  int // number of deleted units
	Inserted int // number of inserted units
}

// PositionedEdits yields the edits of raw with their positions. The edits must be in order.
func PositionedEdits(raw string, edits []diffwrap.Edit) iter.Seq[PositionedEdit] {
	return func(yield func(PositionedEdit) bool) {
		cursor := NewCursor(raw)
		moved := 0 // shift of the text by the preceding edits
		for _, e := range edits {
			pos := cursor.PosAt(e.Off)
			p := PositionedEdit{e, pos, pos + moved, cursor.PosAt(e.Off+e.Len) - pos, UTF16Len(e.New)}
			if !yield(p) {
				return
			}
			moved += p.Inserted - p.Deleted
		}
	}
}

// ApplyEdits applies a script of byte edits of raw to text, from first to last. Each edit splits an item of the
// document; in the reverse order, each split of a long item would scan all text before the edit. A pure insertion goes
// directly after the text before it, and so before text that was deleted there: if that text returns, it comes after
// the insertion. But the opener of a highlight goes directly before the highlighted text, because otherwise returning
// text would be highlighted, too.
func ApplyEdits(txn *ycrdt.Txn, text *ycrdt.Text, raw string, edits []diffwrap.Edit) {
	for e := range PositionedEdits(raw, edits) {
		ApplyEdit(txn, text, e)
	}
}

func ApplyEdit(txn *ycrdt.Txn, text *ycrdt.Text, e PositionedEdit) {
	if e.Deleted > 0 {
		text.Delete(txn, e.After, e.Deleted)
	}
	if e.New != "" && (e.Deleted > 0 || strings.HasSuffix(e.New, "{==")) {
		text.Insert(txn, e.After, e.New)
	} else if e.New != "" {
		text.InsertAfter(txn, e.After, e.New)
	}
}

// Distance returns the number of bytes that the edits between two texts delete and insert.
func Distance(a, b string) int {
	n := 0
	for _, e := range diffwrap.Diff(a, b) {
		n += e.Len + len(e.New)
	}
	return n
}
