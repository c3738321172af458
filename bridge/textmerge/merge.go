package textmerge

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

type Side struct {
	Raw            string          // stored text
	Canonical      string          // Raw after CanonicalEdits; Text is its view
	Known          diffwrap.Known  // known marks of Canonical
	Text           string          // view for readers
	CanonicalEdits []diffwrap.Edit // edits from Raw to Canonical
	Runs           []ycrdt.Run     // identities of Raw's characters; nil if unknown
}

// RawSide returns a state as a reader of the raw text sees it.
func RawSide(raw string, runs []ycrdt.Run) Side {
	return Side{Raw: raw, Canonical: raw, Text: raw, Runs: runs}
}

// Merge returns the view text that results if a writer has read the state base and written text, and the note has
// changed to the state current in the meantime.
func Merge(base, current Side, text string) string {
	if base.Raw == current.Raw {
		return text
	}
	shared := sharedView(base, current)
	back := SwapSides(shared)
	edits := diffWords(base.Text, text, func(word diffwrap.Span) bool {
		_, whole := MapBack(back, word)
		return !whole
	})
	if added, ok := strings.CutPrefix(text, base.Text); ok && added != "" {
		edits = []diffwrap.Edit{{Off: len(base.Text), New: added}} // not moved to an equal line before the end
	}
	return rebase(base.Text, current.Text, wholeComments(base.Text, wholeDeletions(base.Text, shared, edits), edits), edits)
}

// diffWords returns the edits from one text to another, at lines' borders if possible. See wholeWords for lost.
func diffWords(before, after string, lost func(word diffwrap.Span) bool) []diffwrap.Edit {
	edits := wholeWords(before, diffwrap.DiffKeepingWords(before, after), lost)
	if !strings.Contains(before, "{>>") && !strings.Contains(after, "{>>") {
		slide(before, after, edits, nil)
		return edits
	}
	comments := tokensOf(before)
	slide(before, after, edits, comments)
	edits = withComments(before, edits, comments)
	return inverse(after, withComments(after, inverse(before, edits), tokensOf(after)))
}

// sharedIn returns the number of pieces of a range of the first state that the second state has, and their total size
// in bytes.
func sharedIn(shared []Match, off, size int) (pieces, kept int) {
	i, _ := slices.BinarySearchFunc(shared, off+1, func(s Match, at int) int { return s.A + s.Len - at })
	for ; i < len(shared) && shared[i].A < off+size; i++ {
		s := shared[i]
		pieces++
		kept += min(s.A+s.Len, off+size) - max(s.A, off)
	}
	return pieces, kept
}

// wholeDeletions removes from the shared spans each word that the other side has changed, if an edit only deletes the
// word. So the changed word stays, and not only the letters that the other side has typed in it.
func wholeDeletions(text string, shared []Match, edits []diffwrap.Edit) []Match {
	back := SwapSides(shared)
	var changed []diffwrap.Span
	for _, e := range edits {
		for at, size := e.Off, 0; e.New == "" && at < e.Off+e.Len; at += size {
			_, size = utf8.DecodeRuneInString(text[at:])
			_, end := wordsCut(text, diffwrap.Edit{Off: at, Len: size})
			size = max(size, min(end, e.Off+e.Len)-at)
			word := diffwrap.Span{Start: at, End: at + size}
			if _, whole := MapBack(back, word); !whole {
				changed = append(changed, word)
			}
		}
	}
	return SwapSides(outside(back, changed))
}

// wholeComments removes from the shared spans each comment that the other side has changed, if an edit or the other side
// deletes one of the comment's delimiters. So a merge does not delete only a part of such a comment, and puts no text
// into the comment that has the rest.
func wholeComments(text string, shared []Match, edits []diffwrap.Edit) []Match {
	back := SwapSides(shared)
	var changed []diffwrap.Span
	for _, c := range diffwrap.Everything.Comments(text) {
		commentSpan, edge := diffwrap.Span{Start: c.Start, End: c.End}, len("{>>")
		open, close := diffwrap.Span{Start: c.Start, End: c.Start + edge}, diffwrap.Span{Start: c.End - edge, End: c.End}
		takes := func(e diffwrap.Edit) bool {
			return e.Off < c.End && c.Start < e.Off+e.Len && (e.Off < open.End || e.Off+e.Len > close.Start)
		}
		_, whole := MapBack(back, commentSpan)
		_, opens := MapBack(back, open)
		_, closes := MapBack(back, close)
		if !opens || !closes || !whole && slices.ContainsFunc(edits, takes) {
			changed = append(changed, commentSpan)
		}
	}
	return SwapSides(outside(back, changed))
}

// sharedView returns the spans of base's view that are still in current's view.
func sharedView(base, current Side) []Match {
	var view []Match
	if base.Runs != nil && current.Runs != nil {
		view = toBytes(sharedRuns(base.viewRuns(), current.viewRuns()), base.Text, current.Text)
	} else {
		raw := Unchanged(len(base.Raw), diffWords(base.Raw, current.Raw, nil))
		view = Compose(Compose(SwapSides(base.ViewMatches()), raw), current.ViewMatches())
	}
	edits := wholeWords(base.Text, scriptOf(view, base.Text, current.Text), nil)
	slide(base.Text, current.Text, edits, nil)
	return Unchanged(len(base.Text), edits)
}

// viewRuns returns the identities of the view's characters. A mark may be at another place than in an older state, and
// with it text that only the raw text has.
func (s Side) viewRuns() (runs []ycrdt.Run) {
	cursor, pos, rest := NewCursor(s.Raw), 0, s.Runs
	for _, m := range s.ViewMatches() {
		from, to := cursor.PosAt(m.A), cursor.PosAt(m.A+m.Len)
		for ; len(rest) > 0 && pos < to; rest = rest[1:] {
			r := rest[0]
			if skip := from - pos; skip < r.Len {
				skip = max(skip, 0)
				size := min(r.Len, to-pos) - skip
				runs = append(runs, ycrdt.Run{ID: ycrdt.ID{Client: r.ID.Client, Clock: r.ID.Clock + uint64(skip)}, Len: size})
			}
			if pos+r.Len > to {
				break
			}
			pos += r.Len
		}
	}
	return runs
}

func (s Side) ViewMatches() []Match {
	if s.Raw == s.Text {
		return []Match{{0, 0, len(s.Raw)}}
	}
	spans := ViewMatches(s.Known, s.Canonical, diffwrap.AcceptedView)
	if s.CanonicalEdits == nil {
		return spans
	}
	return Compose(Unchanged(len(s.Raw), s.CanonicalEdits), spans)
}

// ViewMatches maps a marked text to a view of it.
func ViewMatches(known diffwrap.Known, marked string, v diffwrap.View) []Match {
	segs := known.Segments(marked, v)
	spans := make([]Match, len(segs))
	for i, seg := range segs {
		spans[i] = Match{seg.RawOff, seg.ViewOff, seg.Len}
	}
	return spans
}
