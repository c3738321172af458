package attribution

import (
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// madeComments are the comments that an agent's write put in the note, or changed.
func madeComments(after string, kept keptMap, v Units) (made []model.MadeMark) {
	cursor := textmerge.NewCursor(after)
	for _, c := range diffwrap.Comments(after) {
		if _, ok := kept.back(diffwrap.Span{Start: c.Start, End: c.End}); ok {
			continue
		}
		from := cursor.PosAt(c.Start)
		made = append(made, model.MadeMark{Comment: true, Add: v.Resolve(model.PlaceRun(from, cursor.PosAt(c.End)))})
	}
	return made
}

// comments lists those of agents that belong to no suggestion and wait for a person.
func (x *Layout) comments(p model.Path) (list []model.Suggestion) {
	cursor := textmerge.NewCursor(x.Raw)
	for _, c := range diffwrap.Comments(x.Raw) {
		from := cursor.PosAt(c.Start)
		if m := x.commentAt(from, cursor.PosAt(c.End)); m != nil {
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
