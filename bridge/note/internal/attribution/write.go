package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file tells the lens whose the marks of a text are, and names for the record what the lens says that it did.

// asOwner is what the lens and the list know of a mark's owner.
func (o *owner) asOwner() diffwrap.Owner {
	if o.Is != nil {
		return diffwrap.Owner{Suggestion: o.Is.ID, Author: o.Is.author}
	}
	return diffwrap.Owner{Author: o.Author()}
}

// OwnersFor says whose the marks and comments are to an author who writes. A writer may amend its own pending suggestions, and
// nobody else's: what a person typed, be it as a mark by hand or inside of somebody's addition, is never changed without a mark.
func (x *Layout) OwnersFor(by model.Author) map[int]diffwrap.Owner {
	owners := make(map[int]diffwrap.Owner, len(x.Marks))
	for k, m := range x.Marks {
		is := &x.Owners[k]
		o := is.asOwner()
		switch {
		case is.whole != by.Name:
			o.Access = diffwrap.Foreign
		case is.Is != nil && is.Is.author == by.Name && is.Is.session != by.Session:
			o.Access = diffwrap.Earlier
		}
		owners[m.Start] = o
	}
	cursor := textmerge.NewCursor(x.Raw)
	for _, c := range x.Furniture {
		if text := c.Of(x.Raw); !strings.HasPrefix(text, "{>>") && !strings.HasPrefix(text, "{{") {
			continue
		}
		from := cursor.PosAt(c.Start)
		to := cursor.PosAt(c.End)
		if m := x.commentAt(from, to); m != nil && m.author != by.Name {
			owners[c.Start] = diffwrap.Owner{Suggestion: m.ID, Author: m.author, Access: diffwrap.Waiting}
		} else if m != nil || x.wroteAll(from, to, by.Name) {
			owners[c.Start] = diffwrap.Owner{Author: by.Name}
		}
	}
	return owners
}

// wroteAll says whether all characters of a text are the author's.
func (x *Layout) wroteAll(from, to int, author string) bool {
	all := true
	x.Facts(from, to, func(_ int, _ model.IDRun, is *Fact) {
		all = all && is.By != nil && is.By.agent && is.By.author == author && is.Ins.Status == Pending
	})
	return all && len(x.Runs) > 0
}

// Written is what the lens did to a marked text, for a record: the suggestions that it made, by places in the text after it, and
// which identities are which of those places now. x is the layout of the text; nil if it had no marks.
func Written(x *Layout, marked string, res diffwrap.Result) (made []model.MadeMark, moved []model.Revival) {
	after := diffwrap.Apply(marked, res.Edits)
	var all []diffwrap.Span
	for _, m := range res.Made {
		all = append(append(all, m.Add...), m.Del...)
	}
	for _, m := range res.Moved {
		all = append(all, m.To)
	}
	places := placesOf(after, all)
	for _, m := range res.Made {
		is := model.MadeMark{Comment: m.Comment, Was: m.Was}
		if m.Same {
			is = x.byID[m.Was[0]].made()
		}
		for _, s := range m.Add {
			is.Put(places[s], true)
		}
		for _, s := range m.Del {
			is.Put(places[s], false)
		}
		made = append(made, is)
	}
	if x == nil {
		return made, nil
	}
	cursor := textmerge.NewCursor(marked)
	for _, m := range slices.SortedFunc(slices.Values(res.Moved), func(a, b diffwrap.Move) int { return a.From.Start - b.From.Start }) {
		from, to := cursor.PosAt(m.From.Start), int(places[m.To].Clock)
		for _, id := range x.Resolve(model.PlaceRun(from, cursor.PosAt(m.From.End))) {
			moved = append(moved, model.Revival{Old: id, New: model.PlaceRun(to, to+int(id.Len))})
			to += int(id.Len)
		}
	}
	return append(made, x.older(after, res, made, moved)...), moved
}

// placesOf names stretches of a text by their places in UTF-16 units.
func placesOf(text string, spans []diffwrap.Span) map[diffwrap.Span]model.IDRun {
	offs := make([]int, 0, 2*len(spans))
	for _, s := range spans {
		offs = append(offs, s.Start, s.End)
	}
	slices.Sort(offs)
	cursor, pos := textmerge.NewCursor(text), make(map[int]int, len(offs))
	for _, off := range offs {
		pos[off] = cursor.PosAt(off)
	}
	places := make(map[diffwrap.Span]model.IDRun, len(spans))
	for _, s := range spans {
		places[s] = model.PlaceRun(pos[s.Start], pos[s.End])
	}
	return places
}

// older notes which comments behind the suggestions of a text after a write were there before it, but for remarks on what a suggestion
// was. It returns the suggestions that the write has only brought beside such a comment.
func (x *Layout) older(after string, res diffwrap.Result, made []model.MadeMark, moved []model.Revival) (joined []model.MadeMark) {
	if !strings.Contains(after, ">>") {
		return nil
	}
	comments, kept := x.commentsBefore(), textmerge.Kept(len(x.Raw), res.Edits)
	type stretch struct {
		diffwrap.Span
		made int
	}
	var stretches []stretch
	for k, m := range res.Made {
		for _, s := range slices.Concat(m.Add, m.Del) {
			if !m.Comment {
				stretches = append(stretches, stretch{s, k})
			}
		}
	}
	slices.SortFunc(stretches, func(a, b stretch) int { return a.Start - b.Start })
	cursor := textmerge.NewCursor(after)
	res.Known.Decide(after, false, func(c diffwrap.Attached) diffwrap.Fate {
		is, began := comments[wasAt(kept, res.Moved, c.Start)]
		if !began {
			return diffwrap.Stays
		}
		from := cursor.PosAt(c.Start)
		comment := model.PlaceRun(from, cursor.PosAt(c.End))
		i, _ := slices.BinarySearchFunc(stretches, c.Mark.Start, func(s stretch, at int) int { return s.Start - at })
		if i < len(stretches) && stretches[i].Start < c.Mark.End {
			k := stretches[i].made
			if !is.remark || !slices.Contains(res.Made[k].Was, x.Owners[is.mark].Is.ID) {
				made[k].Older = append(made[k].Older, comment)
			}
			return diffwrap.Stays
		}
		k, ok := x.MarkAt(wasAt(kept, nil, c.Mark.Start))
		if !ok {
			k, ok = x.markAround(wasAt(kept, res.Moved, c.Mark.Start+MarkEdge)) // it is drawn anew
		}
		if !ok || k == is.mark || x.Owners[k].Is == nil || is.remark && x.Owners[is.mark].Is == x.Owners[k].Is {
			return diffwrap.Stays
		}
		m := x.again(x.Owners[k].Is, moved)
		i = slices.IndexFunc(joined, func(j model.MadeMark) bool { return j.ID == m.ID })
		if i < 0 {
			i, joined = len(joined), append(joined, m)
		}
		joined[i].Older = append(joined[i].Older, comment)
		return diffwrap.Stays
	}, res.Known.Suggestions(after)...)
	return joined
}

// wasAt is where a character was before a write, -1 if it was not there.
func wasAt(kept []textmerge.Span, moved []diffwrap.Move, at int) int {
	if was, ok := textmerge.Back(kept, diffwrap.Span{Start: at, End: at + 1}); ok {
		return was.Start
	}
	for _, m := range moved {
		if m.To.Start <= at && at < m.To.End {
			return m.From.Start + at - m.To.Start
		}
	}
	return -1
}

// markAround is the mark that has an offset.
func (x *Layout) markAround(at int) (k int, ok bool) {
	k, _ = slices.BinarySearchFunc(x.Marks, at+1, func(m diffwrap.Mark, at int) int { return m.Start - at })
	return k - 1, at >= 0 && k > 0 && at < x.Marks[k-1].End
}

// again is a suggestion as it is after a write, by the identities of its text and the places of what moved.
func (x *Layout) again(s *Suggestion, moved []model.Revival) model.MadeMark {
	same := s.made()
	for i, c := range x.Text {
		if c.Mark >= 0 && x.Owners[c.Mark].Is == s {
			x.Units.Each(x.Places[i].From, x.Places[i].To, func(_ int, r model.IDRun) { same.Put(r, c.Added) })
		}
	}
	for _, v := range moved {
		x.Table.Each(v.Old, func(part model.IDRun, is *Fact) {
			for _, deleted := range []bool{false, true} {
				if is.Pending(deleted) == s {
					same.Put(v.New.Part(part.Clock-v.Old.Clock, part.Len), !deleted)
				}
			}
		})
	}
	return same
}
