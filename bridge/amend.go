package bridge

import (
	"context"
	"slices"
)

// Amend decides on the suggestion with the given id by putting text, a person's
// own, in the place of what it proposed. The text stands in the note as accepted
// text, attributed to by; the journal calls the verdict Changed and Undo brings
// the suggestion back. With the proposed text itself Amend is an acceptance.
// Errors: ErrReadOnly; ErrRefused, in the Outcome's Failed, for text that would
// be read as CriticMarkup. A suggestion that is not pending any more is Missing.
func (w *Workspace) Amend(ctx context.Context, id, text string, by Author) (Outcome, error) {
	if w.o.ReadOnly {
		return Outcome{}, &Error{"decide", "", ErrReadOnly}
	}
	pending, err := w.Suggestions(ctx, "")
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Batch: newBatch(), Failed: make(map[Path]error)}
	i := slices.IndexFunc(pending, func(s Suggestion) bool { return s.ID == id })
	if i < 0 {
		out.Missing = []string{id}
		return out, nil
	}
	var gone bool
	out.collect(ctx, map[Path][]string{pending[i].Path: {id}}, func(p Path) (chosen []Suggestion, err error) {
		chosen, err = w.amendNote(ctx, p, id, text, Decision{Batch: out.Batch, Verdict: Changed, By: by.Name, Reason: by.Reason}, by)
		gone = err == nil && len(chosen) == 0
		return chosen, err
	})
	if gone {
		out.Missing, out.Notes = []string{id}, 0
	}
	return out, ctx.Err()
}

func (w *Workspace) amendNote(ctx context.Context, p Path, id, text string, d Decision, by Author) ([]Suggestion, error) {
	var chosen []Suggestion
	_, err := w.change(ctx, change{path: p, by: by, plan: func(n *note, cur *Version) (writePlan, error) {
		all, err := n.suggestions(p, cur)
		if err != nil {
			return writePlan{}, err
		}
		chosen = slices.DeleteFunc(all, func(s Suggestion) bool { return s.ID != id })
		if len(chosen) == 0 {
			return writePlan{}, nil
		}
		instead, err := amended(cur, chosen[0], text)
		if err != nil {
			return writePlan{}, err
		}
		return n.decisionPlan(cur, chosen, d, instead)
	}})
	return chosen, err
}
