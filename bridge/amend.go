package bridge

import (
	"context"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note"
	"github.com/relayfs/relayfs/bridge/planner"
)

// Amend decides on the suggestion with the given id by putting text, a person's
// own, in the place of what it proposed. The text stands in the note as accepted
// text, attributed to by; the journal calls the verdict Changed and Undo brings
// the suggestion back. With the proposed text itself Amend is an acceptance.
// Errors: ErrReadOnly; ErrRefused, in the Outcome's Failed, for text that would
// be read as CriticMarkup. A suggestion that is not pending any more is Missing.
func (w *Workspace) Amend(ctx context.Context, id, text string, by model.Author) (Outcome, error) {
	if w.o.ReadOnly {
		return Outcome{}, &model.Error{Op: "decide", Path: "", Err: model.ErrReadOnly}
	}
	pending, err := w.Suggestions(ctx, "")
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Batch: newBatch(), Failed: make(map[model.Path]error)}
	i := slices.IndexFunc(pending, func(s model.Suggestion) bool { return s.ID == id })
	if i < 0 {
		out.Missing = []string{id}
		return out, nil
	}
	var gone bool
	out.collect(ctx, map[model.Path][]string{pending[i].Path: {id}}, func(p model.Path) (chosen []model.Suggestion, err error) {
		chosen, err = w.amendNote(ctx, p, id, text, model.Decision{Batch: out.Batch, Verdict: model.Changed, By: by.Name, Reason: by.Reason}, by)
		gone = err == nil && len(chosen) == 0
		return chosen, err
	})
	if gone {
		out.Missing, out.Notes = []string{id}, 0
	}
	return out, ctx.Err()
}

func (w *Workspace) amendNote(ctx context.Context, p model.Path, id, text string, d model.Decision, by model.Author) ([]model.Suggestion, error) {
	var chosen []model.Suggestion
	_, err := w.change(ctx, note.Change{Path: p, By: by, Plan: func(l *note.Locked, cur *model.Version) (planner.Plan, error) {
		all, err := l.Suggestions(p, cur)
		if err != nil {
			return planner.Plan{}, err
		}
		chosen = slices.DeleteFunc(all, func(s model.Suggestion) bool { return s.ID != id })
		if len(chosen) == 0 {
			return planner.Plan{}, nil
		}
		instead, err := planner.Amend(cur, chosen[0], text)
		if err != nil {
			return planner.Plan{}, err
		}
		return l.Decide(cur, chosen, d, instead)
	}})
	return chosen, err
}
