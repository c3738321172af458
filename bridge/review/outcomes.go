package review

import (
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Resolved is a suggestion that is no longer pending, with the user's decision.
type Resolved struct {
	diffwrap.Suggestion
	Verdict model.Verdict // Accepted, Rejected or Changed
	Now     string        // the text in place of the suggestion; "" unless Verdict is Changed
	Reason  string        // the user's reason, if any
}

// Outcomes returns the outcomes of marks that current no longer has. marks are suggestions in an earlier version
// (since) of the note at p. The note's table has the decisions made through relayfs. A decision made by hand in an
// editor follows from the text: the suggestion was accepted if the new text is there without a mark, rejected if the
// old text is there without a mark, and otherwise changed.
func (r *Review) Outcomes(p model.Path, since, current *model.Version, marks []diffwrap.Suggestion) ([]Resolved, error) {
	removed := diffwrap.Subtract(marks, current.Suggestions())
	if len(removed) == 0 {
		return nil, nil
	}
	n, err := r.tree.FindNote("read", p)
	if err != nil {
		return nil, err
	}
	decided, err := n.Outcomes(since, removed)
	if err != nil {
		return nil, err
	}
	edits := diffwrap.Diff(since.Canonical(), current.Canonical())
	res := make([]Resolved, len(removed))
	for i, s := range removed {
		d := decided[i]
		if d == nil || d.Verdict == model.Changed { // the table does not have the user's text
			res[i] = resolvedByHand(since.Canonical(), current, edits, s)
		}
		if d != nil {
			s.Comments = d.Comments
			res[i] = Resolved{Suggestion: s, Verdict: d.Verdict, Now: res[i].Now, Reason: d.Reason}
		}
		if res[i].Verdict != model.Changed {
			res[i].Now = ""
		}
	}
	return res, nil
}

// resolvedByHand compares the text at the place of s with both sides of s. edits has the changes from the earlier text
// to the canonical text of current.
func resolvedByHand(before string, current *model.Version, edits []diffwrap.Edit, s diffwrap.Suggestion) Resolved {
	from, to := s.Start, s.End
	for _, e := range edits { // only whole edits count, so the text around s within an edit is compared, too
		if e.Off < to && from < e.Off+e.Len {
			from, to = min(from, e.Off), max(to, e.Off+e.Len)
		}
	}
	shiftFrom, shiftTo := 0, 0
	for _, e := range edits {
		if e.Off < to {
			shiftTo += len(e.New) - e.Len
		}
		if e.Off < from {
			shiftFrom += len(e.New) - e.Len
		}
	}
	at := diffwrap.Span{Start: from + shiftFrom, End: to + shiftTo}
	known := current.Known().Before(at.End).From(at.Start)
	now, comments := cutComments(known, at.Of(current.Canonical()))
	head, tail := before[from:s.Start], before[s.End:to]
	res := Resolved{Suggestion: s, Now: known.Accepted(now)}
	res.Comments = append(comments, commentsAt(current, at.End)...)
	switch now {
	case head + s.New + tail:
		res.Verdict = model.Accepted
	case head + s.Old + tail:
		res.Verdict = model.Rejected
	default:
		res.Verdict = model.Changed
	}
	return res
}

func cutComments(known diffwrap.Known, raw string) (rest string, comments []string) {
	list := known.Annotations(raw)
	for _, a := range slices.Backward(list) {
		if a.Kind != diffwrap.Comment || a.End != len(raw) {
			break
		}
		raw, comments = raw[:a.Start], append([]string{a.New}, comments...)
	}
	return raw, comments
}

// commentsAt returns the consecutive comments at off in the canonical text of v.
func commentsAt(v *model.Version, off int) []string {
	var texts []string
	for _, a := range v.Known().Annotations(v.Canonical()) {
		if a.Kind == diffwrap.Comment && a.Start == off {
			texts = append(texts, a.New)
			off = a.End
		}
	}
	return texts
}
