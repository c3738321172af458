package textmerge

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

type Side struct {
	Raw       string          // stored text
	Marked    string          // Raw after the edits Separated; Text is its view
	Known     diffwrap.Known  // known marks of Marked
	Text      string          // view for readers
	Separated []diffwrap.Edit // from Raw to Marked
	Runs      []ycrdt.Run     // identities of Raw's characters; nil if unknown
}

// RawSide returns a state as seen by a reader of the raw text.
func RawSide(raw string, runs []ycrdt.Run) Side {
	return Side{Raw: raw, Marked: raw, Text: raw, Runs: runs}
}

// Nearest returns the base that text was most likely computed from: the one with the smallest difference, the last
// among equals. An older base would insert a user's words a second time. bases is not empty; textOf returns what the
// writer read.
func Nearest[T any](bases []T, textOf func(T) string, text string) T {
	last := len(bases) - 1
	if !slices.ContainsFunc(bases, func(b T) bool { return textOf(b) != textOf(bases[0]) }) {
		return bases[last] // all texts are equal
	}
	best, bestSize := -1, 0
	for i, b := range slices.Backward(bases) {
		s := textOf(b)
		if s == text {
			return b
		}
		if best >= 0 && textOf(bases[best]) == s {
			continue
		}
		size := Distance(s, text)
		if best < 0 || size < bestSize {
			best, bestSize = i, size
		}
	}
	return bases[best]
}

// Merge returns the view text that results when a writer has read base and written text, and the note is now cur.
func Merge(base, cur Side, text string) string {
	if base.Raw == cur.Raw {
		return text
	}
	if added, ok := strings.CutPrefix(text, base.Text); ok {
		return cur.Text + added // an append stays an append
	}
	edits := wholeWords(base.Text, diffwrap.DiffKeepingWords(base.Text, text))
	slide(base.Text, text, edits, nil)
	return rebase(base.Text, cur.Text, wholeComments(base.Text, sharedView(base, cur), edits), edits)
}

// wholeComments returns the shared spans of two texts, except in comments that have changed since and of which a script
// deletes a delimiter: such a comment stays whole.
func wholeComments(text string, shared []Span, edits []diffwrap.Edit) []Span {
	back := Flip(shared)
	var changed []diffwrap.Span
	for _, c := range diffwrap.Everything.Comments(text) {
		is, edge := diffwrap.Span{Start: c.Start, End: c.End}, len("{>>")
		takes := func(e diffwrap.Edit) bool {
			return e.Off < is.End && is.Start < e.Off+e.Len && (e.Off < is.Start+edge || e.Off+e.Len > is.End-edge)
		}
		if _, whole := Back(back, is); !whole && slices.ContainsFunc(edits, takes) {
			changed = append(changed, is)
		}
	}
	return Flip(outside(back, changed))
}

// sharedView returns the spans of base's view that are still in cur's view.
func sharedView(base, cur Side) []Span {
	var raw []Span
	if base.Runs != nil && cur.Runs != nil {
		raw = toBytes(sharedRuns(base.Runs, cur.Runs), base.Raw, cur.Raw)
	} else {
		raw = Kept(len(base.Raw), SavedEdits(base.Raw, cur.Raw))
	}
	view := Compose(Compose(Flip(base.Shown()), raw), cur.Shown())
	return Kept(len(base.Text), wholeWords(base.Text, scriptOf(view, base.Text, cur.Text)))
}

func (s Side) Shown() []Span {
	if s.Raw == s.Text {
		return []Span{{0, 0, len(s.Raw)}}
	}
	spans := Shown(s.Known, s.Marked)
	if s.Separated == nil {
		return spans
	}
	return Compose(Kept(len(s.Raw), s.Separated), spans)
}

// Shown maps a marked text to its accepted view.
func Shown(known diffwrap.Known, marked string) []Span {
	segs := known.Segments(marked, diffwrap.AcceptedView)
	spans := make([]Span, len(segs))
	for i, seg := range segs {
		spans[i] = Span{seg.RawOff, seg.ViewOff, seg.Len}
	}
	return spans
}
