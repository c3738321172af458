package bridge

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/relayfs/relayfs/diffwrap"
)

// list are the suggestions of a note at p.
func (l *ledger) list(p Path, x *layout, u units) []Suggestion {
	marks := diffwrap.SuggestionsBy(x.raw, func(start, _ int) diffwrap.Writer {
		k, ok := x.markAt(start)
		if !ok {
			return diffwrap.Writer{}
		}
		o := &x.owners[k]
		if o.mark != nil {
			return diffwrap.Writer{Suggestion: o.mark.id, Author: o.mark.author}
		}
		return diffwrap.Writer{Author: o.author()}
	})
	list := make([]Suggestion, len(marks))
	for i, s := range marks {
		k, _ := x.markAt(s.Start)
		list[i] = Suggestion{Suggestion: s, Path: p}
		switch o := &x.owners[k]; {
		case o.mark != nil:
			list[i].ID = o.mark.id
			tell(&list[i], o.mark.author, o.mark.session, o.mark.proposal, o.mark.time)
		default:
			list[i].anchor = l.anchor(u, x.edges[k].from)
			list[i].ID = suggestionID(&list[i])
			if o.stroke != nil {
				tell(&list[i], o.stroke.author, o.stroke.session, o.stroke.proposal, o.stroke.time)
			}
		}
	}
	list = append(list, l.comments(p, x, u)...)
	slices.SortStableFunc(list, func(a, b Suggestion) int { return a.Start - b.Start })
	return list
}

// tell says whose the suggestion is, unless its mark does.
func tell(s *Suggestion, author, session, proposal string, t time.Time) {
	if s.Author == "" {
		s.Author, s.Session, s.Time, s.Proposal = author, session, t, proposal
	}
}

// suggestionID names a suggestion that no record tells of by its text, and among equal ones by
// the identity of its first character: so it keeps its name while text around it
// changes, and once it is decided no other gets that name.
func suggestionID(s *Suggestion) string {
	return shortSum("%s\x00%s\x00%s\x00%s\x00%s", s.Path, s.Kind, s.Old, s.New, s.anchor)
}

// anchor names the character at the UTF-16 position pos. A note that was never
// written through relayfs has no document yet. The first record of its document
// will insert the whole text, in order; so the place in it is a name that stays.
func (l *ledger) anchor(u units, pos int) string {
	i := u.run(pos)
	if i == len(u.runs) {
		return strconv.Itoa(pos)
	}
	id := u.runs[i].ID
	clock := id.Clock + uint64(pos-u.starts[i])
	if l.first != nil && l.first.isFirstText(id.Client, clock) {
		return strconv.FormatUint(clock, 10)
	}
	return fmt.Sprintf("%d:%d", id.Client, clock)
}

// renamed are the suggestions of a note that is at p now.
func renamed(list []Suggestion, p Path) []Suggestion {
	out := make([]Suggestion, len(list))
	for i, s := range list {
		s.Path = p
		if s.anchor != "" {
			s.ID = suggestionID(&s)
		}
		out[i] = s
	}
	return out
}
