package planner

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// An agent's comment awaits a user's decision, as a suggestion does. It is already in the note, because it changes no
// text. It is pending while the record of its author's write covers all its characters: a comment that a user has
// reworded belongs to the user.

// comments decides on the chosen items that are comments. It skips comments that the edits for the other items remove.
// It returns the decided comments, and the edits with the removals of rejected comments.
func (p *decider) comments(chosen []model.Suggestion, edits []diffwrap.Edit) (parts []decidedText, with []diffwrap.Edit) {
	with = slices.Clone(edits)
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
		x := decidedText{Span: diffwrap.Span{Start: s.Start, End: s.End}, role: model.RoleCommentAccepted, mark: len(p.decision.Marks)}
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
