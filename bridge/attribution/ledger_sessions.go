package attribution

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// An author may change what an earlier session of the same author proposed. What the earlier
// one wrote and the later one leaves stays the earlier one's, character by character, so that
// each can be taken back by itself. What has no word left of what was proposed is the later
// one's altogether, with the spaces around it and the deletion in the place of which it stood.

// piece is a stretch of a mark's text after a write.
type piece struct {
	diffwrap.Span
	mark    int
	deleted bool
	of      *model.MadeMark // what an earlier session made of it; nil for the writer's own
}

// HasOthers says whether earlier sessions of the author have suggestions.
func (x *Layout) HasOthers(by model.Author) bool {
	return slices.ContainsFunc(x.Owners, func(o owner) bool { return isOther(o.Mark, by) })
}

func isOther(m *model.MadeMark, by model.Author) bool {
	return m != nil && !m.Comment && m.Author == by.Name && m.Session != by.Session
}

// pieces finds whose the text in the marks of y is, which a write of the author leads to from x; kept
// is what it keeps.
func (x *Layout) pieces(y *Layout, kept []textmerge.Span, by model.Author) (list []piece) {
	if !x.HasOthers(by) {
		return nil
	}
	add := func(p piece) {
		if n := len(list) - 1; n >= 0 && list[n].End == p.Start && list[n].mark == p.mark && list[n].deleted == p.deleted && list[n].of == p.of {
			list[n].End = p.End
		} else if p.Start < p.End {
			list = append(list, p)
		}
	}
	to, from := textmerge.NewCursor(x.Raw), textmerge.NewCursor(x.Raw)
	for _, c := range y.Text {
		if c.Mark < 0 || y.Marks[c.Mark].Comment {
			continue
		}
		at := c.Start
		for len(kept) > 0 && kept[0].B+kept[0].N <= c.Start {
			kept = kept[1:]
		}
		for i := 0; i < len(kept) && kept[i].B < c.End; i++ {
			s := kept[i]
			start, end := max(s.B, c.Start), min(s.B+s.N, c.End)
			add(piece{diffwrap.Span{Start: at, End: start}, c.Mark, c.Deleted, nil})
			at = end
			first := to.PosAt(start - s.B + s.A)
			x.Each(first, to.PosAt(end-s.B+s.A), func(pos int, r model.IDRun) {
				x.role(c).Each(r, func(part model.IDRun, m *model.MadeMark, ok bool) {
					if !ok || !isOther(m, by) {
						m = nil
					}
					begin := pos + int(part.Clock-r.Clock)
					p := piece{mark: c.Mark, deleted: c.Deleted, of: m}
					p.Start = from.OffAt(begin) - s.A + s.B
					p.End = from.OffAt(begin+int(part.Len)) - s.A + s.B
					add(p)
				})
			})
		}
		add(piece{diffwrap.Span{Start: at, End: c.End}, c.Mark, c.Deleted, nil})
	}
	x.takeOver(list, y.Raw)
	return list
}

// othersIn says of each mark of y which suggestion of an earlier session all of its text is of, nil for
// none.
func (x *Layout) othersIn(y *Layout, kept []textmerge.Span, by model.Author) []*model.MadeMark {
	others := make([]*model.MadeMark, len(y.Marks))
	list := x.pieces(y, kept, by)
	for i, p := range list {
		if i == 0 || list[i-1].mark != p.mark {
			others[p.mark] = p.of
		} else if others[p.mark] != p.of {
			others[p.mark] = nil
		}
	}
	return others
}

// takeOver makes those pieces the writer's own that are of suggestions that added words, of which
// none is left.
func (x *Layout) takeOver(list []piece, after string) {
	had, has := make(map[*model.MadeMark]bool), make(map[*model.MadeMark]bool)
	for i, c := range x.Text {
		if c.Added && textmerge.HasWord(x.Raw[c.Start:c.End]) {
			x.Each(x.Places[i].From, x.Places[i].To, func(_ int, r model.IDRun) {
				x.adds.Each(r, func(_ model.IDRun, m *model.MadeMark, ok bool) {
					if ok {
						had[m] = true
					}
				})
			})
		}
	}
	for _, p := range list {
		if !p.deleted && textmerge.HasWord(after[p.Start:p.End]) {
			has[p.of] = true
		}
	}
	for i := range list {
		if had[list[i].of] && !has[list[i].of] {
			list[i].of = nil
		}
	}
}

// Cut adds to the edits of the author's write what cuts its marks where the text of one session ends
// and that of another begins.
func (x *Layout) Cut(edits []diffwrap.Edit, by model.Author) []diffwrap.Edit {
	after := diffwrap.Apply(x.Raw, edits)
	y := NewLedger(nil).LayOut(after, Units{})
	list := x.pieces(y, textmerge.Kept(len(x.Raw), edits), by)
	var cuts []diffwrap.Edit
	for i := 1; i < len(list); i++ {
		p, q := list[i-1], list[i]
		if p.of == q.of || p.mark != q.mark || p.deleted != q.deleted || p.End != q.Start ||
			after[q.Start-1] == '\r' && after[q.Start] == '\n' {
			continue
		}
		m := y.Marks[q.mark]
		text := m.Added
		if q.deleted {
			text = m.Deleted
		}
		if m.Deleted.Empty() || m.Added.Empty() {
			cuts = append(cuts, diffwrap.Edit{Off: q.Start, New: after[text.End:m.End] + after[m.Start:text.Start]})
		}
	}
	if len(cuts) == 0 {
		return edits
	}
	o, a := diffwrap.Texts(after)
	if cutO, cutA := diffwrap.Texts(diffwrap.Apply(after, cuts)); o != cutO || a != cutA {
		return edits
	}
	return diffwrap.Compose(len(x.Raw), edits, cuts)
}
