package attribution

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

func (x *Layout) List(p model.Path) []model.Suggestion {
	k := 0
	ownerAt := func(start int) diffwrap.Owner { // starts are in order, except those of adjacent marks
		for k > 0 && x.Marks[k].Start > start {
			k--
		}
		for x.Marks[k].Start < start {
			k++
		}
		return x.MarkOwners[k].forLens()
	}
	marks := x.Known.SuggestionsBy(x.Raw, ownerAt)
	list := make([]model.Suggestion, len(marks))
	k = 0
	for i := range marks {
		for x.Marks[k].Start < marks[i].Start {
			k++
		}
		list[i].Suggestion, list[i].Path = marks[i], p
		if o := &x.MarkOwners[k]; o.Suggestion != nil {
			list[i].ID = o.Suggestion.ID
			o.Suggestion.setAuthor(&list[i])
			list[i].PreviousRejection = x.previousRejection(&list[i], o.Suggestion)
		} else {
			list[i].ID = suggestionID(&list[i], x.anchor(x.Marks[k].Start))
		}
	}
	if comments := x.comments(p, marks); len(comments) > 0 {
		list = append(list, comments...)
		slices.SortStableFunc(list, func(a, b model.Suggestion) int { return a.Start - b.Start })
	}
	return list
}

// HasAllOf reports whether all pending text of a suggestion is in the layout's text, which may be part of a note's.
func (x *Layout) HasAllOf(id string) bool {
	s := x.byID[id]
	if s == nil {
		return true
	}
	missing := 0
	for i, runs := range [][]model.IDRange{s.add, s.del} {
		for _, r := range runs {
			x.Each(r, func(part model.IDRange, f *Fact) {
				if f.Pending(i == 1) == s {
					missing += int(part.Len)
				}
			})
		}
		for p := range x.all() {
			if p.Pending(i == 1) == s {
				missing -= int(p.ID.Len)
			}
		}
	}
	return missing == 0
}

// setAuthor sets the attribution of the suggestion, unless its mark names an author.
func (w *Writer) setAuthor(s *model.Suggestion) {
	if s.Author == "" {
		s.Author, s.Session, s.Time, s.Proposal = w.author, w.session, w.time, w.proposal
	}
}

// suggestionID makes an ID for a suggestion without a record, from its path, its text and the identity of its first
// character. So the ID does not depend on the surrounding text, and no later suggestion gets the same ID.
func suggestionID(s *model.Suggestion, anchor string) string {
	return shortSum("%s\x00%s\x00%s\x00%s\x00%s", s.Path, s.Kind, s.Old, s.New, anchor)
}

// anchor returns a stable name of the character at an offset. A note that was never written through
// relayfs has no document yet. The first record of its document will insert the whole text in order, so the position in
// that text is a stable name.
func (x *Layout) anchor(off int) string {
	pos := x.cursor.PosAt(off)
	i := x.run(pos)
	if i == len(x.Runs) {
		return strconv.Itoa(pos)
	}
	now := model.RangeOf(x.Runs[i]).Part(uint64(pos-x.starts[i]), 1)
	id := x.OriginalIDs(now)[0]
	if x.first != nil && x.first.IsFirstText(ycrdt.ClientID(id.Client), id.Clock) {
		return strconv.FormatUint(id.Clock, 10)
	}
	return fmt.Sprintf("%d:%d", id.Client, id.Clock)
}

// comments lists the agents' comments that await a decision of their own. It leaves out the comments that a decision on
// a suggestion removes.
func (x *Layout) comments(p model.Path, suggestions []diffwrap.Suggestion) (list []model.Suggestion) {
	comments := x.Known.Comments(x.Raw)
	if len(comments) == 0 {
		return nil
	}
	along := x.commentsRemovedWith(suggestions)
	for _, c := range comments {
		if m := x.commentAt(diffwrap.Span{Start: c.Start, End: c.End}); m != nil && !along[c.Start] {
			s := model.Suggestion{Suggestion: c, Path: p, ID: m.ID}
			s.Author = ""
			m.setAuthor(&s)
			list = append(list, s)
		}
	}
	return list
}

// commentAt returns the agent's comment that has all characters of s, or nil.
func (x *Layout) commentAt(s diffwrap.Span) (m *Suggestion) {
	for p := range x.In(s) {
		next := p.Pending(false)
		if next == nil || !next.Comment || m != nil && m != next {
			return nil
		}
		m = next
	}
	return m
}

// OutcomeOf returns the last decision on a suggestion of the text, or nil if there is none. It ignores decisions that
// were undone.
func (x *Layout) OutcomeOf(s diffwrap.Suggestion) (out *Outcome) {
	if k, ok := x.MarkAt(s.Start); ok {
		for p := range x.In(x.Marks[k].Span) {
			for _, a := range append(slices.Clip(p.Dels), p.Ins) {
				if a.Of != nil && a.Status != Pending {
					out = a.Of.Outcome
				}
			}
		}
	}
	return out
}
