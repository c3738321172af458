package planner

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file lets the comments of agents wait for a person, as suggestions do. A comment
// stands in the note at once, since it changes no text. It waits as long as the record of
// its author's write tells of all its characters: one that a person has reworded is the
// person's, and an acceptance types its last character anew.

// comment decides on an agent's comment, which is the item with that number. Comments come
// in order.
func (p *decider) comment(item int, s model.Suggestion, cursor *textmerge.Cursor) (part, diffwrap.Edit) {
	x := part{off: s.Start, end: s.End, role: model.RejectedComment, mark: len(p.d.Marks)}
	p.d.Marks = append(p.d.Marks, model.DecidedMark{Item: item})
	e := diffwrap.Edit{Off: s.Start, Len: s.End - s.Start}
	if p.accept {
		x.role, x.end = model.AcceptedComment, s.End-1
		e = diffwrap.Edit{Off: s.End - 1, Len: 1, New: p.Layout.Raw[s.End-1 : s.End]}
	}
	x.From = cursor.PosAt(x.off)
	x.To = cursor.PosAt(x.end)
	return x, e
}

// comments decides on those of the items that are comments, unless the edits of the
// others take them away.
func (p *decider) comments(chosen []model.Suggestion, edits []diffwrap.Edit) (parts []part, with []diffwrap.Edit) {
	with = slices.Clone(edits)
	cursor := textmerge.NewCursor(p.Layout.Raw)
	for i, s := range chosen {
		if s.Kind != diffwrap.Comment {
			continue
		}
		for len(edits) > 0 && edits[0].Off+edits[0].Len <= s.Start {
			edits = edits[1:]
		}
		if len(edits) > 0 && edits[0].Off < s.End {
			continue
		}
		x, e := p.comment(i, s, &cursor)
		parts, with = append(parts, x), append(with, e)
	}
	slices.SortFunc(with, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	p.retyped(with)
	return parts, with
}

// retyped notes what edits type anew: it is what it was, as after an undo.
func (p *decider) retyped(edits []diffwrap.Edit) {
	for e := range textmerge.Places(p.Layout.Raw, edits) {
		if e.Size > 0 {
			p.d.Revived = append(p.d.Revived, p.retypes(model.PlaceRun(e.Pos, e.Pos+e.Gone), e.After)...)
		}
	}
}

// retypes says that what stands at old stands at a place of the text after it.
func (p *decider) retypes(old model.IDRun, at int) (list []model.Revival) {
	for _, id := range p.Units.Resolve(old) {
		list = append(list, model.Revival{Old: id, New: model.PlaceRun(at, at+int(id.Len))})
		at += int(id.Len)
	}
	return list
}

// reopen writes the accepted comment that begins at wants[i] so that it waits again, and
// returns how many of wants that took: 0 if it is not as it was accepted.
func (p *printer) reopen(i int) int {
	w := &p.wants[i]
	end, ok := p.comment[w.off]
	if !ok || p.runs[w.run].Role != model.AcceptedComment {
		return 0
	}
	n, at := 0, w.off
	for ; i+n < len(p.wants) && at < end; n++ {
		x := &p.wants[i+n]
		if x.gone && !x.shown {
			continue
		}
		if x.gone || x.kind != furnitureItem || x.off != at || at+len(x.text) < end && (x.run < 0 || p.runs[x.run].Role != model.AcceptedComment) {
			return 0
		}
		at += len(x.text)
	}
	if at != end {
		return 0
	}
	p.close()
	from := p.pos
	for j := range n {
		x := p.wants[i+j]
		if x.gone {
			continue
		}
		if last := len(x.text) - 1; x.off+last+1 == end {
			tail, was := x.text[last:], x.id.Part(x.id.Len-1, 1)
			if x.text = x.text[:last]; last > 0 {
				x.id.Len--
				p.keep(&x)
			}
			p.remove(end)
			p.revived = append(p.revived, model.Revival{Old: was, New: model.PlaceRun(p.pos, p.pos+1)})
			p.write(tail)
		} else {
			p.keep(&x)
		}
	}
	m := p.mark(p.marks[p.runs[w.run].Mark].Item)
	m.Put(model.PlaceRun(from, p.pos), true)
	return n
}
