package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file provides the lens with the owners of a text's marks, and converts the lens's result for the record.

func (o *owner) asOwner() diffwrap.Owner {
	if o.Is != nil {
		return diffwrap.Owner{Suggestion: o.Is.ID, Author: o.Is.author}
	}
	return diffwrap.Owner{Author: o.Author()}
}

// OwnersFor returns the owners of the marks and comments, as seen by the writer. A writer may amend only its own
// pending suggestions. A user's text, in a mark typed by hand or inside another's addition, never changes without a
// mark.
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

func (x *Layout) wroteAll(from, to int, author string) bool {
	all := true
	x.Facts(from, to, func(_ int, _ model.IDRun, is *Fact) {
		all = all && is.By != nil && is.By.agent && is.By.author == author && is.Ins.Status == Pending
	})
	return all && len(x.Runs) > 0
}

// Written converts the lens's result for a marked text to the data of a record: the suggestions that it made, at places
// in the new text; the places that existing identities have now; and the comments that belong to the text. x is the
// layout of the text, nil if it had no marks.
func Written(x *Layout, marked string, res diffwrap.Result) (made []model.MadeMark, moved []model.Revival, older []model.IDRun) {
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
		return made, nil, nil
	}
	cursor := textmerge.NewCursor(marked)
	for _, m := range slices.SortedFunc(slices.Values(res.Moved), func(a, b diffwrap.Move) int { return a.From.Start - b.From.Start }) {
		from, to := cursor.PosAt(m.From.Start), int(places[m.To].Clock)
		for _, id := range x.Resolve(model.PlaceRun(from, cursor.PosAt(m.From.End))) {
			moved = append(moved, model.Revival{Old: id, New: model.PlaceRun(to, to+int(id.Len))})
			to += int(id.Len)
		}
	}
	return made, moved, x.older(after, res)
}

// placesOf returns the places of spans of a text, in UTF-16 units.
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

// older returns the places, in the text after a write, of the existing comments that the write deletes or that follow
// suggestions. It excludes remarks on the suggestions that became those suggestions.
func (x *Layout) older(after string, res diffwrap.Result) (runs []model.IDRun) {
	if !strings.Contains(x.Raw, "{>") && !strings.Contains(x.Raw, "{{") {
		return nil
	}
	comments, kept := x.commentsBefore(), textmerge.Kept(len(x.Raw), res.Edits)
	was := make(map[int][]string) // earlier IDs of a suggestion, by the start of each of its parts
	var theirs []diffwrap.Span
	for _, m := range res.Made {
		for _, s := range slices.Concat(m.Add, m.Del) {
			was[s.Start] = m.Was
		}
		for _, s := range m.Del {
			if is, began := comments[wasAt(kept, res.Moved, s.Start)]; began && !is.remark {
				theirs = append(theirs, s)
			}
		}
	}
	res.Known.Decide(after, false, func(c diffwrap.Attached) diffwrap.Fate {
		is, began := comments[wasAt(kept, res.Moved, c.Start)]
		about := false
		if began && is.remark {
			on := x.Owners[is.mark].Is
			k, ok := x.MarkAt(wasAt(kept, nil, c.Mark.Start))
			about = ok && x.Owners[k].Is == on
			for at := c.Mark.Start; at < c.Mark.End; at++ {
				about = about || slices.Contains(was[at], on.ID)
			}
		}
		if began && !about {
			theirs = append(theirs, c.Span)
		}
		return diffwrap.Stays
	}, res.Known.Suggestions(after)...)
	places := placesOf(after, theirs)
	for _, s := range theirs {
		runs = append(runs, places[s])
	}
	return runs
}

// wasAt returns the offset of a character before a write, -1 if the write added it.
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
