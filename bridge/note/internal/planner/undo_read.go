package planner

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
)

// This file reads a document for an undo: what is there, and what has been.

// item is a stretch of the document in one state.
type item struct {
	id    model.IDRun // as it is named now
	first model.IDRun
	since uint64 // number of the record that gave it that name, 0 for the first one
	run   int    // of takeback.runs, -1 for none
	gone  bool   // deleted, perhaps to come back
	moved bool   // out of furniture, within which its place is: to before that
	text  string
	off   int // in the raw text, of what is there
	kind  itemKind
	mark  int // of the layout; -1 for none
	o, a  bool
	is    *attribution.Fact
}

type itemKind uint8

const (
	contentItem itemKind = iota
	delimiterItem
	furnitureItem // a comment, a highlight's delimiter
)

// segment is a stretch of the raw text.
type segment struct {
	from, to int // UTF-16 units
	off, end int
	kind     itemKind
	mark     int
	o, a     bool // which views show it
}

// segments are the raw text by what it is to the layout.
func (t *takeback) segments() (list []segment) {
	marked := t.markedSegments()
	spans := textmerge.Kept(len(t.cur.Raw()), t.cur.CanonicalEdits())
	at := 0
	add := func(off, end int, s segment) {
		if off < end {
			s.off, s.end = off, end
			list = append(list, s)
			at = end
		}
	}
	taken := segment{kind: delimiterItem, mark: -1}
	for _, s := range spans {
		add(at, s.A, taken)
		for len(marked) > 0 && marked[0].off < s.B+s.N {
			m := marked[0]
			off, end := max(m.off, s.B), min(m.end, s.B+s.N)
			add(off-s.B+s.A, end-s.B+s.A, m)
			if m.end > s.B+s.N {
				break
			}
			marked = marked[1:]
		}
		at = s.A + s.N
	}
	add(at, len(t.cur.Raw()), taken)
	cursor := textmerge.NewCursor(t.cur.Raw())
	for i := range list {
		list[i].from = cursor.PosAt(list[i].off)
		list[i].to = cursor.PosAt(list[i].end)
	}
	return list
}

// markedSegments are those of the marked text, in bytes alone.
func (t *takeback) markedSegments() (list []segment) {
	at, k := 0, 0
	furniture := t.x.Furniture
	fill := func(to int) {
		for at < to {
			for k < len(t.x.Marks) && t.x.Marks[k].End <= at {
				k++
			}
			s := segment{off: at, end: to, kind: furnitureItem, mark: -1}
			if k < len(t.x.Marks) {
				if m := t.x.Marks[k]; m.Start <= at {
					s.kind, s.mark, s.end = delimiterItem, k, min(to, m.End)
				} else {
					s.end = min(to, m.Start)
				}
			}
			if s.kind == furnitureItem && len(furniture) > 0 { // each by itself
				s.end = min(s.end, furniture[0].End)
				furniture = furniture[1:]
			}
			list = append(list, s)
			at = s.end
		}
	}
	for _, c := range t.x.Text {
		fill(c.Start)
		list = append(list, segment{off: c.Start, end: c.End, mark: c.Mark, o: !c.Added, a: !c.Deleted})
		at = c.End
	}
	fill(len(t.cur.Canonical()))
	return list
}

// read goes through the document from its start.
func (t *takeback) read(pieces []ycrdt.Piece) {
	segments := t.segments()
	pos := 0
	cursor := textmerge.NewCursor(t.cur.Raw())
	var live []model.Told[bool]
	start := 0 // of the items of segments[0]
	for _, p := range pieces {
		r := model.RunOf(ycrdt.Run{ID: p.ID, Len: p.Len})
		if p.Deleted {
			within := len(segments) > 0 && segments[0].kind == furnitureItem && segments[0].from < pos && pos < segments[0].to
			n := len(t.items)
			t.part(r, item{gone: true, moved: within, mark: -1}, &live)
			if within {
				gone := slices.Clone(t.items[n:])
				t.items = slices.Insert(t.items[:n], start, gone...)
				start += len(gone)
			}
			continue
		}
		for r.Len > 0 {
			for segments[0].to <= pos {
				segments = segments[1:]
			}
			s := segments[0]
			if pos == s.from {
				start = len(t.items)
			}
			n := min(r.Len, uint64(s.to-pos))
			t.part(r.Part(0, n), item{kind: s.kind, mark: s.mark, o: s.o, a: s.a}, &live)
			r = r.Part(n, r.Len-n)
			pos += int(n)
			if pos == s.to && s.kind == furnitureItem {
				t.wasToGo(t.items[start:])
			}
		}
	}
	t.live = model.RangesOf(live, nil)
	pos = 0
	var home []model.Told[int]
	for i := range t.items {
		x := &t.items[i]
		if x.gone {
			home = append(home, model.Told[int]{Of: x.first, Value: i})
			continue
		}
		x.off = cursor.OffAt(pos)
		pos += int(x.id.Len)
		x.text = t.cur.Raw()[x.off:cursor.OffAt(pos)]
	}
	t.home = model.RangesOf(home, func(a, b int) bool { return t.items[a].since > t.items[b].since })
}

// wasToGo makes content of a comment that was rejected to go, unless somebody has written in it since: that is another
// comment, which stays as it is.
func (t *takeback) wasToGo(comment []item) {
	if slices.ContainsFunc(comment, func(x item) bool { return x.run < 0 || t.runs[x.run].Role != model.RejectedDeletion }) {
		return
	}
	for i := range comment {
		comment[i].kind, comment[i].o, comment[i].a = contentItem, true, true
	}
}

// part adds one stretch, cut where what is known of it changes. Of what is gone only
// what the undo is about is of interest.
func (t *takeback) part(r model.IDRun, like item, live *[]model.Told[bool]) {
	add := func(id, first model.IDRun, since uint64, run int, is *attribution.Fact) {
		x := like
		x.id, x.first, x.since, x.run, x.is = id, first, since, run, is
		t.items = append(t.items, x)
	}
	t.table.EachFirst(r, func(now, is model.IDRun, since uint64) {
		t.asked.Each(is, func(of model.IDRun, _, asked bool) {
			at := now.Part(of.Clock-is.Clock, of.Len)
			switch {
			case asked && !like.gone:
				*live = append(*live, model.Told[bool]{Of: of, Value: true})
			case !asked && like.gone:
				return
			case !asked:
				add(at, of, since, -1, nil)
				return
			}
			t.target.Each(of, func(aimed model.IDRun, run int, ok bool) {
				if !ok {
					run = -1
				}
				if like.gone && run < 0 {
					return
				}
				t.table.Each(at.Part(aimed.Clock-of.Clock, aimed.Len), func(one model.IDRun, f *attribution.Fact) {
					add(one, of.Part(one.Clock-at.Clock, one.Len), since, run, f)
				})
			})
		})
	})
}
