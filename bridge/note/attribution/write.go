package attribution

import (
	"slices"
	"strings"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file gives the lens the owners of a text's marks, and converts the lens's result to the data of a record.

func (o *markOwner) forLens() diffwrap.Owner {
	if o.Suggestion != nil {
		return diffwrap.Owner{Suggestion: o.Suggestion.ID, Author: o.Suggestion.author}
	}
	return diffwrap.Owner{Author: o.Author()}
}

// OwnersFor returns the owners of the marks and comments from the writer's point of view. A writer may amend only its
// own pending suggestions: all marks of a suggestion are Foreign if one of them has text of another author. A suggestion
// that the writer made in another session is Earlier. A pending comment of another author is Waiting. If apart is set,
// all marks are Foreign.
func (x *Layout) OwnersFor(author model.Author, apart bool) map[int]diffwrap.Owner {
	owners, foreign := make(map[int]diffwrap.Owner, len(x.Marks)), make(map[string]bool)
	for k, m := range x.Marks {
		o := x.MarkOwners[k].forLens()
		if apart || x.soleAuthor(k) != author.Name {
			o.Access = diffwrap.Foreign
			foreign[o.Suggestion] = o.Suggestion != ""
		}
		owners[m.Start] = o
	}
	for k, m := range x.Marks {
		s, o := x.MarkOwners[k].Suggestion, owners[m.Start]
		if foreign[o.Suggestion] {
			o.Access = diffwrap.Foreign
		} else if s != nil && s.author == author.Name && s.session != author.Session {
			o.Access = diffwrap.Earlier
		}
		owners[m.Start] = o
	}
	for _, c := range x.Syntax {
		if m := x.commentAt(c); m != nil && m.author != author.Name {
			owners[c.Start] = diffwrap.Owner{Suggestion: m.ID, Author: m.author, Access: diffwrap.Waiting}
		} else if m != nil {
			owners[c.Start] = diffwrap.Owner{Author: author.Name}
		}
	}
	return owners
}

// Written converts the lens's result for a marked text to the data of a record. Marks are the suggestions that the write
// made, at offsets in the new text. Remaps are the new offsets of existing identities. Older are the comments that
// belong to the text. Plain is the text that the write took out of its marks. x is the layout of the old text; it is nil
// if that text had no marks.
func Written(x *Layout, marked string, res diffwrap.Result) (rec model.Record) {
	for _, m := range res.Made {
		made := model.MarkRecord{Comment: m.Comment, Replaces: m.From}
		if m.Same {
			made = x.byID[m.From[0]].mark()
		}
		for _, s := range m.Add {
			made.AddRange(model.OffsetRange(s), true)
		}
		for _, s := range m.Del {
			made.AddRange(model.OffsetRange(s), false)
		}
		rec.Marks = append(rec.Marks, made)
	}
	if x == nil {
		return rec
	}
	for _, m := range res.Moved {
		rec.Remaps = append(rec.Remaps, x.MovedTo(m.From, m.To.Start)...)
	}
	after := diffwrap.Apply(marked, res.Edits)
	rec.Older, rec.Plain = x.olderComments(after, res), x.unmarked(after, res)
	return rec
}

// unmarked returns the text with pending suggestions that the write leaves outside of all marks, and the comments that
// it no longer deletes.
func (x *Layout) unmarked(after string, res diffwrap.Result) (ids []model.IDRange) {
	_, text, syntax := res.Known.Layout(after)
	kept := textmerge.Unchanged(len(x.Raw), res.Edits)
	add := func(outside []diffwrap.Span, waits func(Piece) bool) {
		list := make([]textmerge.Match, len(outside))
		for i, s := range outside {
			list[i] = textmerge.Match{A: s.Start, B: s.Start, Len: s.Len()}
		}
		for _, m := range textmerge.Compose(kept, list) {
			for p := range x.In(diffwrap.Span{Start: m.A, End: m.A + m.Len}) {
				if waits(p) {
					ids = append(ids, p.ID)
				}
			}
		}
	}
	var plain []diffwrap.Span
	for _, c := range text {
		if c.Mark < 0 {
			plain = append(plain, c.Span)
		}
	}
	add(plain, func(p Piece) bool { return p.IsPending() })
	add(syntax, func(p Piece) bool { return p.Pending(true) != nil })
	return ids
}

// olderComments returns the existing comments that the write deletes, or that now follow a suggestion, at offsets in the
// text after the write. It omits a comment that followed an earlier form of the same suggestion.
func (x *Layout) olderComments(after string, res diffwrap.Result) (runs []model.IDRange) {
	if !strings.Contains(x.Raw, "{>") && !strings.Contains(x.Raw, "{{") {
		return nil
	}
	comments, kept := x.commentsBefore(), textmerge.Unchanged(len(x.Raw), res.Edits)
	old := make(map[int][]string) // earlier IDs of a suggestion, by the start of each part
	for _, m := range res.Made {
		for _, s := range slices.Concat(m.Add, m.Del) {
			old[s.Start] = m.From
		}
		for _, s := range m.Del {
			if existing, began := comments[offsetBefore(kept, res.Moved, s.Start)]; began && !existing.onMark {
				runs = append(runs, model.OffsetRange(s))
			}
		}
	}
	res.Known.Decide(after, false, func(c diffwrap.Attached) bool {
		existing, began := comments[offsetBefore(kept, res.Moved, c.Start)]
		about := false
		if began && existing.onMark {
			on := x.MarkOwners[existing.mark].Suggestion
			k, ok := x.MarkAt(offsetBefore(kept, nil, c.Mark.Start))
			about = ok && x.MarkOwners[k].Suggestion == on
			for at := c.Mark.Start; at < c.Mark.End; at++ {
				about = about || slices.Contains(old[at], on.ID)
			}
		}
		if began && !about {
			runs = append(runs, model.OffsetRange(c.Span))
		}
		return true
	}, res.Known.Suggestions(after)...)
	return runs
}

// offsetBefore returns the offset that a character had before a write, or -1 if the write added it.
func offsetBefore(kept []textmerge.Match, moved []diffwrap.Move, at int) int {
	if old, ok := textmerge.MapBack(kept, diffwrap.Span{Start: at, End: at + 1}); ok {
		return old.Start
	}
	for _, m := range moved {
		if m.To.Start <= at && at < m.To.End {
			return m.From.Start + at - m.To.Start
		}
	}
	return -1
}
