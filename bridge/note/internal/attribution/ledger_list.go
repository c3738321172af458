package attribution

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// List are the suggestions of a note at p.
func (x *Layout) List(p model.Path) []model.Suggestion {
	marks := x.Known.SuggestionsBy(x.Raw, func(start, _ int) diffwrap.Writer {
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
			list[i].Answers = x.answered(&list[i])
		default:
			list[i].Anchor = x.anchor(x.edges[k].From)
			list[i].ID = suggestionID(&list[i])
			if o.stroke != nil {
				tell(&list[i], o.stroke.author, o.stroke.session, o.stroke.proposal, o.stroke.time)
			}
		}
	}
	list = append(list, x.comments(p, marks)...)
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
	now := model.RunOf(x.Runs[i]).Part(uint64(pos-x.starts[i]), 1)
	id := x.Firsts(now)[0]
	if x.first != nil && x.first.IsFirstText(ycrdt.ClientID(id.Client), id.Clock) {
		return strconv.FormatUint(id.Clock, 10)
	}
	return fmt.Sprintf("%d:%d", id.Client, id.Clock)
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

// madeComments are the comments that an agent's write put in the note, or changed. One of
// those before that it only frees of the marks that deleted it is none of them.
func (l *Ledger) madeComments(after *Layout, kept keptMap, v Units, before map[int]standing) (made []model.MadeMark) {
	cursor := textmerge.NewCursor(after.Raw)
	for _, c := range after.Known.Comments(after.Raw) {
		from := cursor.PosAt(c.Start)
		ids := v.Resolve(model.PlaceRun(from, cursor.PosAt(c.End)))
		was, ok := textmerge.Back(kept.spans, diffwrap.Span{Start: c.Start, End: c.Start + 1})
		_, began := before[was.Start]
		span := diffwrap.Span{Start: c.Start, End: c.End}
		if _, untouched := textmerge.Back(kept.spans, span); began && (untouched || ok && kept.all(span) && l.addedAlike(ids)) {
			continue
		}
		made = append(made, model.MadeMark{Comment: true, Add: ids})
	}
	return made
}

// addedAlike says whether one suggestion adds all of the characters, or none does.
func (l *Ledger) addedAlike(ids []model.IDRun) bool {
	var by []*model.MadeMark
	for _, r := range ids {
		l.adds.Each(r, func(_ model.IDRun, m *model.MadeMark, _ bool) { by = append(by, m) })
	}
	return len(slices.Compact(by)) <= 1
}

// comments lists those of agents that wait for a person, and not for the decision on a suggestion.
func (x *Layout) comments(p model.Path, suggestions []diffwrap.Suggestion) (list []model.Suggestion) {
	comments := x.Known.Comments(x.Raw)
	if len(comments) == 0 {
		return nil
	}
	along := x.alongWith(suggestions)
	cursor := textmerge.NewCursor(x.Raw)
	for _, c := range comments {
		from := cursor.PosAt(c.Start)
		if m := x.commentAt(from, cursor.PosAt(c.End)); m != nil && !along[c.Start] {
			s := model.Suggestion{Suggestion: c, Path: p, ID: m.ID}
			s.Author = ""
			tell(&s, m.Author, m.Session, m.Proposal, m.Time)
			list = append(list, s)
		}
	}
	return list
}

// commentAt is the agent's comment that all characters from one position to another are
// of, nil if there is none.
func (x *Layout) commentAt(from, to int) (m *model.MadeMark) {
	whole := true
	x.Each(from, to, func(_ int, r model.IDRun) {
		x.adds.Each(r, func(_ model.IDRun, is *model.MadeMark, ok bool) {
			whole = whole && ok && is.Comment && (m == nil || m == is)
			m = is
		})
	})
	if !whole {
		return nil
	}
	return m
}

// wroteComment says whether all characters of a comment are the author's, who may change
// it without a mark.
func (x *Layout) wroteComment(from, to int, author string) bool {
	if m := x.commentAt(from, to); m != nil {
		return m.Author == author
	}
	all := true
	x.Each(from, to, func(_ int, r model.IDRun) {
		x.wrote.Each(r, func(_ model.IDRun, s *stroke, ok bool) { all = all && ok && s.agent && s.author == author })
	})
	return all && len(x.Runs) > 0
}

// A writer may amend its own pending suggestions, and nobody else's: what a
// person typed, be it as a mark by hand or inside of somebody's addition, is
// never changed without a mark. Marks carry no author in the text, so who typed
// what is read from the document.

// Foreign says which marks and comments of a marked text are not entirely by the author
// (diffwrap.Options.Foreign).
func (x *Layout) Foreign(author string) func(start, end int) bool {
	comment := x.ofComments(func(from, to int) bool { return !x.wroteComment(from, to, author) })
	return func(start, end int) bool {
		if k, ok := x.MarkAt(start); ok {
			return x.Owners[k].whole != author
		}
		return comment(start, end)
	}
}

// Waits says which comments of a marked text wait for a person as another author's (diffwrap.Options.Waits).
func (x *Layout) Waits(author string) func(start, end int) bool {
	return x.ofComments(func(from, to int) bool {
		m := x.commentAt(from, to)
		return m != nil && m.Author != author
	})
}

// ofComments tells by offsets what is told of comments by their places.
func (x *Layout) ofComments(tell func(from, to int) bool) func(start, end int) bool {
	var places map[int]int
	return func(start, end int) bool {
		if places == nil {
			places = openersIn(x.Raw)
		}
		from := places[start]
		return tell(from, from+textmerge.UTF16Len(x.Raw[start:end]))
	}
}

// openersIn are the UTF-16 positions at which comments may begin, by offset.
func openersIn(text string) map[int]int {
	places := make(map[int]int)
	cursor := textmerge.NewCursor(text)
	for at := 0; ; at++ {
		i := strings.Index(text[at:], "{>>")
		if i < 0 {
			return places
		}
		at += i
		places[at] = cursor.PosAt(at)
	}
}
