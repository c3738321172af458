package attribution

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// List are the suggestions of a note at p.
func (x *Layout) List(p model.Path) []model.Suggestion {
	marks := diffwrap.SuggestionsBy(x.Raw, func(start, _ int) diffwrap.Writer {
		k, ok := x.MarkAt(start)
		if !ok {
			return diffwrap.Writer{}
		}
		o := &x.Owners[k]
		if o.Mark != nil {
			return diffwrap.Writer{Suggestion: o.Mark.ID, Author: o.Mark.Author}
		}
		return diffwrap.Writer{Author: o.Author()}
	})
	list := make([]model.Suggestion, len(marks))
	for i, s := range marks {
		k, _ := x.MarkAt(s.Start)
		list[i] = model.Suggestion{Suggestion: s, Path: p}
		switch o := &x.Owners[k]; {
		case o.Mark != nil:
			list[i].ID = o.Mark.ID
			tell(&list[i], o.Mark.Author, o.Mark.Session, o.Mark.Proposal, o.Mark.Time)
		default:
			list[i].Anchor = x.anchor(x.edges[k].From)
			list[i].ID = suggestionID(&list[i])
			if o.stroke != nil {
				tell(&list[i], o.stroke.author, o.stroke.session, o.stroke.proposal, o.stroke.time)
			}
		}
	}
	list = append(list, x.comments(p)...)
	slices.SortStableFunc(list, func(a, b model.Suggestion) int { return a.Start - b.Start })
	return list
}

// tell says whose the suggestion is, unless its mark does.
func tell(s *model.Suggestion, author, session, proposal string, t time.Time) {
	if s.Author == "" {
		s.Author, s.Session, s.Time, s.Proposal = author, session, t, proposal
	}
}

// suggestionID names a suggestion that no record tells of by its text, and among equal ones by
// the identity of its first character: so it keeps its name while text around it
// changes, and once it is decided no other gets that name.
func suggestionID(s *model.Suggestion) string {
	return shortSum("%s\x00%s\x00%s\x00%s\x00%s", s.Path, s.Kind, s.Old, s.New, s.Anchor)
}

// anchor names the character at the UTF-16 position pos. A note that was never
// written through relayfs has no document yet. The first record of its document
// will insert the whole text, in order; so the place in it is a name that stays.
func (x *Layout) anchor(pos int) string {
	i := x.run(pos)
	if i == len(x.Runs) {
		return strconv.Itoa(pos)
	}
	id := x.Runs[i].ID
	clock := id.Clock + uint64(pos-x.starts[i])
	if x.first != nil && x.first.IsFirstText(id.Client, clock) {
		return strconv.FormatUint(clock, 10)
	}
	return fmt.Sprintf("%d:%d", id.Client, clock)
}

// Renamed are the suggestions of a note that is at p now.
func Renamed(list []model.Suggestion, p model.Path) []model.Suggestion {
	out := make([]model.Suggestion, len(list))
	for i, s := range list {
		s.Path = p
		if s.Anchor != "" {
			s.ID = suggestionID(&s)
		}
		out[i] = s
	}
	return out
}
