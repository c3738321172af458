package marking

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// This file finds the suggestions that a change made when it was written as marks (see Drawing). Each hunk is usually
// one suggestion, even if another hunk is next to it. A hunk that has text of the writer's pending suggestion, or
// replaces it, changes that suggestion. Several hunks are one suggestion if they change the same suggestion, or if
// separate decisions could lose a word: one hunk deletes a word, and another hunk inserts the word again.

// Drawing is a change of the accepted view, written as marks in the raw text.
type Drawing struct {
	Edits         []span.Edit
	Opens         []int     // offsets in the new raw text at which marks and comments are written
	LiteralOpener span.Span // first literal opener in new text, as a range of p.New
	rewritten     []marked
	deleted       [][]wrapped // by index of the hunk
	written       []written   // in document order
}

// wrapped is raw text that a hunk deletes.
type wrapped struct {
	part
	to span.Span // range in the new raw text
}

// written is text of p.New that a hunk writes, as an addition or a comment.
type written struct {
	view, to span.Span // ranges in p.New and in the new raw text
	hunk     int
	comment  bool
	known    bool // the text is the writer's comment from an earlier write
}

// MarkChange is a suggestion or comment that a change made or changed.
type MarkChange struct {
	From     []string    // IDs of the earlier suggestions that the change continues, in whole or in part; empty if there are none
	Same     bool        // the text is as before, but some characters have new identities
	Add, Del []span.Span // ranges in the new raw text, without the delimiters of marks
	Comment  bool        // the change is a comment; Add is its range, with delimiters
}

type Move struct{ From, To span.Span }

// Made returns the suggestions and comments that result from d, the drawing of changes, and the text that moved. raw is
// the new raw text.
func (p *Patch) Made(d *Drawing, changes []align.Hunk, raw string) (made []MarkChange, moved []Move) {
	start, end := span.New(p.OldBody, p.OldBody), span.New(len(p.Old), len(p.Old))
	changes = slices.Concat([]align.Hunk{{Old: start, New: start.Shift(p.NewBody - p.OldBody)}}, changes, []align.Hunk{{Old: end}})
	t := tracer{Patch: p, Drawing: d, changes: changes, fresh: make([]int, len(d.deleted)), byID: make(map[string]int)}
	for k := range d.deleted {
		t.sets = append(t.sets, k)
	}
	t.stayed, t.deltas, t.inserted = make([]span.Span, 0, len(d.Edits)+1), make([]int, 0, len(d.Edits)+1), make([]span.Span, 0, len(d.Edits))
	at, delta := 0, 0
	for _, e := range d.Edits {
		t.stayed, t.deltas = append(t.stayed, span.New(at, e.Off)), append(t.deltas, delta)
		t.inserted = append(t.inserted, span.New(e.Off+delta, e.Off+delta+len(e.New)))
		at, delta = e.Off+e.Len, delta+len(e.New)-e.Len
	}
	t.stayed, t.deltas = append(t.stayed, span.New(at, len(p.Doc.Raw))), append(t.deltas, delta)
	for _, y := range d.written {
		if !y.comment {
			t.fresh[y.hunk] += y.view.Len()
		}
	}
	t.follow()
	return append(t.made(raw), t.comments...), t.moved
}

type tracer struct {
	*Patch
	*Drawing
	changes  []align.Hunk // between empty hunks at the start and the end of the body
	fresh    []int        // by index of the hunk: length of its text that was in no suggestion of the writer
	stayed   []span.Span  // spans of raw that the edits keep
	deltas   []int        // shifts of these spans
	inserted []span.Span  // spans of the new raw text that the edits insert
	sets     []int        // union-find of hunks, followed by suggestions: each entry links to another member of its set, or to itself
	byID     map[string]int
	old      []oldSuggestion
	moved    []Move
	comments []MarkChange
}

// oldSuggestion is the earlier state of a suggestion of the writer.
type oldSuggestion struct {
	id        string
	lost      bool // some of its text is in no mark of the new raw text
	inHunk    bool // some of its text is in a hunk
	shown     []span.Span
	before    MarkChange // its ranges in raw
	elsewhere MarkChange // its parts outside the rewritten regions
}

func (t *tracer) set(k int) int {
	for t.sets[k] != k {
		t.sets[k] = t.sets[t.sets[k]]
		k = t.sets[k]
	}
	return k
}

func (t *tracer) join(a, b int) {
	a, b = t.set(a), t.set(b)
	t.sets[max(a, b)] = min(a, b)
}

// oldOf returns the writer's suggestion that contains a cell, and its index in sets. It adds the suggestion to t.old if
// needed, and returns nil if there is none.
func (t *tracer) oldOf(c *critic.Cell) (*oldSuggestion, int) {
	o := t.Owners[c.Start]
	if o.Suggestion == "" || !c.IsSuggestion() || !t.Own(c) {
		return nil, 0
	}
	k, ok := t.byID[o.Suggestion]
	if !ok {
		k = len(t.old)
		t.byID[o.Suggestion] = k
		t.old = append(t.old, oldSuggestion{id: o.Suggestion})
		t.sets = append(t.sets, len(t.deleted)+k)
	}
	return &t.old[k], len(t.deleted) + k
}

// follow finds the new place of the writer's own text, and joins hunks and suggestions accordingly.
func (t *tracer) follow() {
	deleted := t.stillDeleted()
	for _, r := range t.rewritten {
		for k := r.from.piece; k < len(t.pieces) && t.pieces[k].Start < r.to.off; k++ {
			x := &t.pieces[k]
			f, node := t.oldOf(x.cell)
			if f != nil {
				f.before.extend(x, 0)
			}
			if x.role == roleOwn {
				t.followAdded(x, f, node)
			} else if x.role == roleDropped && f != nil {
				f.lost = f.lost || deleted[x.cell] != x.Of(t.Doc.Raw)
			}
		}
	}
	for k, list := range t.deleted {
		for i := range list {
			w := &list[i]
			if f, node := t.oldOf(w.cell); f != nil {
				f.inHunk = true
				t.join(k, node)
				continue
			}
			t.fresh[k] += w.Len()
			for y, h := range t.insertedAgain(w.View) {
				if hasWord(h.New.Of(t.New)) {
					t.join(k, y.hunk)
				}
			}
		}
	}
	t.joinBlank()
	t.joinMoved()
	for k := range t.old {
		if f := &t.old[k]; f.lost && !f.inHunk {
			t.replaced(f, len(t.deleted)+k)
		}
	}
	if len(t.old) > 0 {
		t.followElsewhere()
	}
}

// extend adds the range of a piece, shifted by delta.
func (m *MarkChange) extend(x *Piece, delta int) {
	if x.role == roleOwn {
		m.Add = append(m.Add, x.Shift(delta))
	} else if x.role == roleDropped {
		m.Del = append(m.Del, x.Shift(delta))
	}
}

// followElsewhere finds the marks of the suggestions outside the rewritten regions.
func (t *tracer) followElsewhere() {
	rewritten, edits, delta := t.rewritten, t.Edits, 0
	for k := range t.pieces {
		x := &t.pieces[k]
		for len(rewritten) > 0 && rewritten[0].to.off <= x.Start {
			rewritten = rewritten[1:]
		}
		n, ok := t.byID[t.Owners[x.cell.Start].Suggestion]
		if !ok || x.role != roleOwn && x.role != roleDropped || len(rewritten) > 0 && rewritten[0].from.off <= x.Start {
			continue
		}
		for len(edits) > 0 && edits[0].Off+edits[0].Len <= x.Start {
			delta += len(edits[0].New) - edits[0].Len
			edits = edits[1:]
		}
		t.old[n].before.extend(x, 0)
		t.old[n].elsewhere.extend(x, delta)
	}
}

// stillDeleted returns the text that is still deleted in each of the writer's deletions.
func (t *tracer) stillDeleted() map[*critic.Cell]string {
	left := make(map[*critic.Cell]string)
	for _, list := range t.deleted {
		for _, w := range list {
			if w.role == roleDropped {
				left[w.cell] += w.Of(t.Doc.Raw)
			}
		}
	}
	return left
}

// followAdded finds an addition or comment of the writer in the text that the hunks write.
func (t *tracer) followAdded(x *Piece, f *oldSuggestion, node int) {
	held := 0
	if f != nil {
		f.shown = append(f.shown, x.View)
	}
	for y, h := range t.insertedAgain(x.View) {
		same := t.move(x.Start+h.Old.Start-x.View.Start, h.New.Shift(y.to.Start-y.view.Start))
		y.known = y.known || same && x.cell.Kind == critic.Comment && h.Old == x.View && h.New == y.view
		if f == nil || y.comment {
			continue
		}
		if same {
			held += h.New.Len()
			t.fresh[y.hunk] -= h.New.Len()
		}
		if same || hasWord(h.New.Of(t.New)) {
			f.inHunk = true
			t.join(y.hunk, node)
		}
	}
	if f != nil {
		f.lost = f.lost || held < x.View.Len()
	}
}

// replaced joins a suggestion that has no text in a hunk with the hunk that replaced its text.
func (t *tracer) replaced(f *oldSuggestion, node int) {
	for _, s := range f.shown {
		for _, c := range touching(t.changes, s) {
			if c.Old.Start < s.End && s.Start < c.Old.End {
				for y := range t.writtenIn(c.New) {
					if !y.comment {
						t.join(y.hunk, node)
						return
					}
				}
			}
		}
	}
}

// insertedAgain yields the text of the accepted view that the changes keep and a hunk inserts again, with its ranges in
// the accepted view before and after.
func (t *tracer) insertedAgain(old span.Span) iter.Seq2[*written, align.Hunk] {
	return func(yield func(*written, align.Hunk) bool) {
		k, _ := slices.BinarySearchFunc(t.changes, old.Start, func(h align.Hunk, off int) int { return cmp.Or(cmp.Compare(h.Old.End, off), -1) })
		for k = max(0, k-1); t.changes[k].Old.End < old.End; k++ {
			delta := t.changes[k].New.End - t.changes[k].Old.End
			kept := span.New(max(old.Start, t.changes[k].Old.End), min(old.End, t.changes[k+1].Old.Start)).Shift(delta)
			for y := range t.writtenIn(kept) {
				again := span.New(max(kept.Start, y.view.Start), min(kept.End, y.view.End))
				if !again.Empty() && !yield(y, align.Hunk{Old: again.Shift(-delta), New: again}) {
					return
				}
			}
		}
	}
}

func (t *tracer) writtenIn(view span.Span) iter.Seq[*written] {
	return func(yield func(*written) bool) {
		k, _ := slices.BinarySearchFunc(t.written, view.Start, func(y written, off int) int { return y.view.End - off - 1 })
		for ; k < len(t.written) && t.written[k].view.Start < view.End; k++ {
			if !yield(&t.written[k]) {
				return
			}
		}
	}
}

// move reports whether the edits keep the text at an offset of raw, so that it becomes the given range of the new raw
// text. If the edits delete characters and insert them again, move records these characters as moved.
func (t *tracer) move(from int, to span.Span) bool {
	same := true
	for at := 0; at < to.Len(); {
		k, stays, n := covers(t.stayed, from+at, to.Len()-at)
		_, put, n := covers(t.inserted, to.Start+at, n)
		if put && !stays {
			t.moved = append(t.moved, Move{span.New(from+at, from+at+n), span.New(to.Start+at, to.Start+at+n)})
		} else {
			same = same && stays && from+t.deltas[k] == to.Start
		}
		at += n
	}
	return same
}

// covers reports whether an offset is in one of the spans. k is the index of the span, and n is the number of bytes
// from the offset on, at most limit, that have the same result.
func covers(spans []span.Span, at, limit int) (k int, in bool, n int) {
	k, _ = slices.BinarySearchFunc(spans, at, func(s span.Span, at int) int { return cmp.Or(cmp.Compare(s.End, at), -1) })
	switch {
	case k == len(spans) || spans[k].Start >= at+limit:
		return k, false, limit
	case spans[k].Start > at:
		return k, false, spans[k].Start - at
	}
	return k, true, min(limit, spans[k].End-at)
}

// joinBlank joins a hunk that inserts white space, or replaces white space with it, with the text that the hunk before it
// inserts: a line break alone is nothing to decide on.
func (t *tracer) joinBlank() {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	for i := 1; i < len(t.written); i++ {
		a, b := &t.written[i-1], &t.written[i]
		replacesText := func(w wrapped) bool { return !blank(w.Of(t.Doc.Raw)) }
		if a.view.End == b.view.Start && !a.comment && !b.comment && blank(b.view.Of(t.New)) && !slices.ContainsFunc(t.deleted[b.hunk], replacesText) {
			t.join(a.hunk, b.hunk)
		}
	}
}

// joinMoved joins what deletes a word with the hunk that inserts it again: another hunk, or a suggestion that loses the word.
// It considers only words that are there once before and once after the change.
func (t *tracer) joinMoved() {
	apart := false // whether there is anything to join
	for k := range t.sets {
		apart = apart || (k < len(t.deleted) || t.old[k-len(t.deleted)].lost) && t.set(k) != t.set(0)
	}
	if !apart {
		return
	}
	lost := t.lostWords()
	deleted := t.singleWords(func(r *marked) (string, []span.Span, []span.Span) { return r.old.text, r.old.notes, r.old.stretches() },
		func(h align.Hunk) span.Span { return h.Old }, func(string) bool { return true })
	inserted := t.singleWords(func(r *marked) (string, []span.Span, []span.Span) {
		return r.text, r.notes, []span.Span{{End: len(r.text)}}
	},
		func(h align.Hunk) span.Span { return h.New }, func(word string) bool { return deleted[word]+lost[word] > 0 })
	for word, k := range inserted {
		for _, from := range []int{deleted[word], lost[word]} {
			if k > 0 && from > 0 {
				t.join(from-1, k-1)
			}
		}
	}
}

// lostWords returns the words of the suggestions, with the number of the suggestion in sets, from 1. The number is 0 if the
// word is there several times, or its suggestion loses no text.
func (t *tracer) lostWords() map[string]int {
	in := make(map[string]int)
	for k, f := range t.old {
		for _, s := range f.shown {
			for w := range markdown.Tokens(t.Old, s, nil) {
				word := w.Of(t.Old)
				_, again := in[word]
				if in[word] = 0; !again && f.lost && w.IsWord() {
					in[word] = len(t.deleted) + k + 1
				}
			}
		}
	}
	return in
}

// singleWords returns the wanted words of the regions, with the number of the hunk that each is in, from 1. The number
// is 0 if the word is in no hunk, or not the only one. text returns a region's text, the comments in it, and its
// stretches: no word is in two of them.
func (t *tracer) singleWords(text func(*marked) (text string, notes, stretches []span.Span), side func(align.Hunk) span.Span, wanted func(word string) bool) map[string]int {
	in, first := make(map[string]int), 1
	for i := range t.rewritten {
		r, k := &t.rewritten[i], 0
		text, notes, stretches := text(r)
		for _, s := range stretches {
			for w := range markdown.Tokens(text, s, notes) {
				word := w.Of(text)
				if !w.IsWord() || !wanted(word) {
					continue
				}
				for k < len(r.hunks) && side(r.hunks[k]).End <= w.Start {
					k++
				}
				_, again := in[word]
				in[word] = 0
				if !again && k < len(r.hunks) && side(r.hunks[k]).Start <= w.Start {
					in[word] = first + k
				}
			}
		}
		first += len(r.hunks)
	}
	return in
}

func hasWord(s string) bool { return strings.ContainsFunc(s, markdown.InWord) }

// made lists the suggestions that have changed, and adds new comments to t.comments.
func (t *tracer) made(raw string) []MarkChange {
	all, changed := make([]MarkChange, len(t.sets)), t.changedSets()
	in := func(k int) *MarkChange {
		if k = t.set(k); !changed[k] {
			return nil
		}
		return &all[k]
	}
	for k := range t.old {
		if m := in(len(t.deleted) + k); m != nil {
			f := &t.old[k]
			m.From = append(m.From, f.id)
			m.Add, m.Del = append(m.Add, f.elsewhere.Add...), append(m.Del, f.elsewhere.Del...)
		}
	}
	for k, list := range t.deleted {
		for _, w := range list {
			if m := in(k); m != nil {
				m.Del = append(m.Del, w.to)
			}
		}
	}
	for _, y := range t.written {
		if y.comment {
			if !y.known {
				t.comments = append(t.comments, MarkChange{Comment: true, Add: []span.Span{y.to}})
			}
		} else if m := in(y.hunk); m != nil {
			m.Add = append(m.Add, y.to)
		}
	}
	var out []MarkChange
	for _, m := range all {
		if len(m.Add)+len(m.Del) > 0 {
			if len(m.From) == 1 {
				f := &t.old[t.byID[m.From[0]]]
				m.Same = textAt(raw, m.Add) == textAt(t.Doc.Raw, f.before.Add) && textAt(raw, m.Del) == textAt(t.Doc.Raw, f.before.Del)
			}
			out = append(out, m)
		}
	}
	return out
}

func textAt(text string, at []span.Span) string {
	slices.SortFunc(at, func(a, b span.Span) int { return a.Start - b.Start })
	var b strings.Builder
	for _, s := range at {
		b.WriteString(s.Of(text))
	}
	return b.String()
}

func (t *tracer) changedSets() []bool {
	changed, former := make([]bool, len(t.sets)), make([]int, len(t.sets))
	for k, fresh := range t.fresh {
		changed[t.set(k)] = changed[t.set(k)] || fresh > 0
	}
	for k := range t.old {
		at := t.set(len(t.deleted) + k)
		former[at]++
		changed[at] = changed[at] || t.old[k].lost || former[at] > 1
	}
	return changed
}
