package planner

import (
	"math"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// item is a range of the document in one state.
type item struct {
	id                     model.IDRange // current identity
	first                  model.IDRange
	since                  uint64 // order of the record that gave the text its current identity; 0 if this is the original identity
	run                    int    // index in Undo.runs, -1 for none
	deleted                bool   // the text is deleted; the undo may restore it
	placeTaken             bool   // other text is at the place: the mark's opener, or syntax or a substitution around it
	text                   string
	off                    int // offset in the raw text if it exists
	kind                   itemKind
	mark                   int // index in the layout, -1 for none
	inOriginal, inAccepted bool
	fact                   *attribution.Fact
}

type itemKind uint8

const (
	textItem itemKind = iota
	delimiterItem
	syntaxItem // a comment or a highlight's delimiter
)

type segment struct {
	diffwrap.Span
	from, to               int // UTF-16 units
	kind                   itemKind
	mark                   int
	inOriginal, inAccepted bool // the original and the accepted view show the text
}

// segments splits the raw text by the role that each part has in the layout.
func (t *Undo) segments() (list []segment) {
	raw, marked := t.current.Raw(), t.markedSegments()
	list = make([]segment, 0, len(marked))
	cursor, at := textmerge.NewCursor(raw), 0
	add := func(off, end int, s segment) {
		if off < end {
			s.from, s.to = cursor.PosAt(off), cursor.PosAt(end)
			list = append(list, s)
		}
	}
	taken := segment{kind: delimiterItem, mark: -1}
	for _, s := range textmerge.Unchanged(len(raw), t.current.CanonicalEdits()) {
		add(at, s.A, taken)
		at = s.A + s.Len
		for ; len(marked) > 0 && marked[0].Start < s.B+s.Len; marked = marked[1:] {
			m := marked[0]
			add(max(m.Start, s.B)-s.B+s.A, min(m.End, s.B+s.Len)-s.B+s.A, m)
			if m.End > s.B+s.Len {
				break
			}
		}
	}
	add(at, len(raw), taken)
	return list
}

// markedSegments splits the marked text. It does not set the UTF-16 positions. All that is neither text nor syntax belongs
// to the delimiters of marks.
func (t *Undo) markedSegments() (list []segment) {
	marks, syntax := t.layout.Marks, t.layout.Syntax
	list = make([]segment, 0, 2*len(marks)+len(t.layout.Text)+len(syntax))
	at, k := 0, 0
	add := func(s segment) {
		for ; at < s.Start; at = list[len(list)-1].End {
			for marks[k].End <= at {
				k++
			}
			list = append(list, segment{Span: diffwrap.Span{Start: at, End: min(s.Start, marks[k].End)}, kind: delimiterItem, mark: k})
		}
		if !s.Empty() {
			list, at = append(list, s), s.End
		}
	}
	others := func(before int) {
		for ; len(syntax) > 0 && syntax[0].Start < before; syntax = syntax[1:] {
			add(segment{Span: syntax[0], kind: syntaxItem, mark: -1})
		}
	}
	for _, c := range t.layout.Text {
		others(c.Start)
		add(segment{Span: c.Span, mark: c.Mark, inOriginal: !c.Added, inAccepted: !c.Deleted})
	}
	end := len(t.layout.Raw)
	others(end)
	add(segment{Span: diffwrap.Span{Start: end, End: end}})
	return list
}

// find looks up the characters of t.asked in the document. It sets t.present, and t.from and t.to unless it finds no target.
func (t *Undo) find() {
	var live []model.RangeValue[bool]
	from, to := math.MaxInt, -1
	find := func(now, first model.IDRange, aimed bool) {
		for _, p := range t.text.Find(now.Run()) {
			end := p.Pos
			if !p.Deleted {
				end += p.Len
				t.table.Each(model.RangeOf(ycrdt.Run{ID: p.ID, Len: p.Len}), func(part model.IDRange, fact *attribution.Fact) {
					if !fact.IsDecidedAway() { // otherwise another mount wrote it before it had read the decision
						live = append(live, model.RangeValue[bool]{Of: first.Part(part.Clock-now.Clock, part.Len), Value: true})
					}
				})
			}
			if aimed {
				from, to = min(from, p.Pos), max(to, end)
			}
		}
	}
	t.asked.All(func(first model.IDRange, aimed bool) { find(first, first, aimed) })
	t.table.EachRestored(func(now, first model.IDRange) {
		t.asked.Each(first, func(of model.IDRange, aimed, ok bool) {
			if ok {
				find(now.Part(of.Clock-first.Clock, of.Len), of, aimed)
			}
		})
	})
	t.present = model.RangesOf(live, nil)
	if from <= to {
		t.from, t.to = from, to
	}
}

// read collects the items of the part of the document that the undo is planned for.
func (t *Undo) read() {
	segments, raw := t.segments(), t.current.Raw()
	t.items = make([]item, 0, len(segments))
	first, mark := 0, -1 // index of the first item of segments[0], or of its substitution; mark is that substitution
	var opened []int     // indexes of the first items of the comments that count as text
	for _, p := range t.text.Pieces(t.start, t.start+textmerge.UTF16Len(raw)) {
		r, pos := model.RangeOf(ycrdt.Run{ID: p.ID, Len: p.Len}), p.Pos-t.start
		if p.Deleted {
			t.addItems(r, item{deleted: true, mark: -1})
			continue
		}
		for r.Len > 0 {
			s := segments[0]
			if pos == s.from && (mark < 0 || s.mark != mark) {
				first, mark = len(t.items), t.substitution(s.mark)
			}
			n := min(r.Len, uint64(s.to-pos))
			t.addItems(r.Part(0, n), item{kind: s.kind, mark: s.mark, inOriginal: s.inOriginal, inAccepted: s.inAccepted})
			r = r.Part(n, r.Len-n)
			if pos += int(n); pos < s.to {
				continue
			}
			segments = segments[1:]
			switch units := t.items[first:]; {
			case s.kind == syntaxItem && t.comment(units):
				opened = append(opened, first)
			case s.kind == syntaxItem, mark >= 0 && (len(segments) == 0 || segments[0].mark != mark):
				hoist(units)
			}
		}
	}
	cursor, pos := textmerge.NewCursor(raw), 0
	var home []model.RangeValue[int]
	for i := range t.items {
		x := &t.items[i]
		if x.deleted {
			home = append(home, model.RangeValue[int]{Of: x.first, Value: i})
			continue
		}
		x.off = cursor.OffAt(pos)
		pos += int(x.id.Len)
		x.text = raw[x.off:cursor.OffAt(pos)]
	}
	for _, i := range opened {
		t.openedComments = append(t.openedComments, t.items[i].off)
	}
	t.itemOf = model.RangesOf(home, func(a, b int) bool { return t.items[a].since > t.items[b].since })
}

// substitution returns mark k if it is a substitution, which text inside it would split, and -1 otherwise.
func (t *Undo) substitution(k int) int {
	if k < 0 || !strings.HasPrefix(t.layout.Raw[t.layout.Marks[k].Start:], "{~~") {
		return -1
	}
	return k
}

// hoist moves deleted items before the others, a comment or a substitution, in which their marks would be no marks.
func hoist(units []item) {
	slices.SortStableFunc(units, func(a, b item) int {
		switch {
		case a.deleted == b.deleted:
			return 0
		case a.deleted:
			return -1
		}
		return 1
	})
	for i := range units {
		units[i].placeTaken = units[i].deleted
	}
}

// comment applies the role that a comment had in the decision; units also has the deleted text in it. It does not change a
// comment that was edited after the decision. A comment that was accepted as text, or whose deletion was rejected, is
// content. So is a comment of which the decision accepted or kept only a part, without the opener or the closer, and a
// comment inside which it deleted text: then the part's marks are inside the comment, which counts as text until they are
// decided. hasMarks reports whether this is so. It is not so if the decision kept only the opener or only the closer of a
// comment that was to be deleted: then a user has written another comment beside it.
func (t *Undo) comment(units []item) (hasMarks bool) {
	role := func(x item) model.Role {
		if x.run < 0 {
			return 0
		}
		return t.runs[x.run].Role
	}
	has := func(r model.IDRange) bool {
		return slices.ContainsFunc(t.table.OriginalIDs(r), func(r model.IDRange) bool {
			return slices.ContainsFunc(units, func(x item) bool { return !x.deleted && r.StartsIn(x.first) })
		})
	}
	size, first, same, kept, inside := uint64(0), role(units[0]), true, false, false
	last := role(units[len(units)-1])
	part := (first == 0 || last == 0) && first != model.RoleDeletionRejected && last != model.RoleDeletionRejected
	for _, x := range units {
		switch r := role(x); {
		case !x.deleted:
			size, same = size+x.id.Len, same && r == first
			kept = kept || r == model.RoleAdditionAccepted || r == model.RoleDeletionRejected
		case r == model.RoleDeletionAccepted || r == model.RoleAdditionRejected:
			inside = inside || has(t.runs[x.run].Left) && has(t.runs[x.run].Right)
		}
	}
	switch {
	case (kept || inside) && (same || part):
		for i := range units {
			if x := &units[i]; !x.deleted {
				x.kind, x.inOriginal, x.inAccepted = textItem, true, true
			}
		}
		return !same || inside
	case !same:
	case first == model.RoleCommentAccepted:
		t.commentPending = true
	case first == model.RoleCommentAdded && size == t.commentLen:
		t.commentLen = 0
	}
	return false
}

// addItems adds the items of one run, split where the attribution changes. It skips deleted text that the undo does not
// concern.
func (t *Undo) addItems(r model.IDRange, like item) {
	t.table.EachOriginal(r, func(now, original model.IDRange, since uint64) {
		t.target.Each(original, func(of model.IDRange, run int, ok bool) {
			x := like
			x.since = since
			at := now.Part(of.Clock-original.Clock, of.Len)
			switch {
			case ok:
				x.run = run
				t.table.Each(at, func(one model.IDRange, f *attribution.Fact) {
					x.id, x.first, x.fact = one, of.Part(one.Clock-at.Clock, one.Len), f
					t.items = append(t.items, x)
				})
			case !like.deleted:
				x.id, x.first, x.run = at, of, -1
				t.items = append(t.items, x)
			}
		})
	})
}
