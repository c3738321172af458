package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
)

// errMarkup refuses a text that would not be plain where it is put.
var errMarkup = errors.New("the text would be read as CriticMarkup there")

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
		return n.amendPlan(cur, chosen, text, d)
	}})
	return chosen, err
}

// amendPlan accepts the one suggestion chosen and puts text where what it
// proposed then stands: where the suggestion stood, since acceptance changes
// nothing before that. What both have in common is accepted, the rest rejected.
func (n *note) amendPlan(cur *Version, chosen []Suggestion, text string, d Decision) (writePlan, error) {
	s := chosen[0]
	accepted := diffwrap.Apply(cur.Marked(), diffwrap.Accept(cur.Marked(), s.Suggestion))
	if s.Parts != nil || len(accepted) < s.Start || !strings.HasPrefix(accepted[s.Start:], s.New) {
		return writePlan{}, &refusal{errors.New("what it proposes does not stand in one piece")}
	}
	amended := accepted[:s.Start] + text + accepted[s.Start+len(s.New):]
	before, view := diffwrap.Accepted(accepted[:s.Start]), diffwrap.Accepted(amended)
	if countSuggestions(amended) != countSuggestions(accepted) || !strings.HasPrefix(view, before+text) {
		return writePlan{}, &refusal{fmt.Errorf("%w: %q", errMarkup, text)}
	}
	return n.decisionPlan(cur, chosen, d, diffwrap.Diff(s.New, text))
}
