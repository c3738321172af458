package planner

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// Agents' comments await a user's decision, as suggestions do. A comment is in the note at once, since it changes no
// text. It stays pending as long as the record of its author's write has all its characters: a comment that a user
// has reworded is the user's.

// comments decides on the items that are comments, unless the edits for the other items remove them.
func (p *decider) comments(chosen []model.Suggestion, edits []diffwrap.Edit) (parts []decidedText, with []diffwrap.Edit) {
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
		x := decidedText{off: s.Start, end: s.End, role: model.RoleCommentAccepted, mark: len(p.decision.Marks)}
		x.From = cursor.PosAt(x.off)
		x.To = cursor.PosAt(x.end)
		p.decision.Marks = append(p.decision.Marks, model.DecidedMark{Item: i})
		if !p.accept {
			x.role = model.RoleCommentRejected
			with = append(with, diffwrap.Edit{Off: s.Start, Len: s.End - s.Start})
		}
		parts = append(parts, x)
	}
	slices.SortFunc(with, func(a, b diffwrap.Edit) int { return a.Off - b.Off })
	return parts, with
}
