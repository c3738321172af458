package bridge

import (
	"slices"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/planner"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/diffwrap"
)

// This file makes good what a crash interrupts: a write that is in the note's file
// and not in the store. What it was about to do is noted before (Store.Intend).

// intend notes who makes of the note's text the one of that sum, what plan decides
// and which characters it makes anew, before that goes into the file. kept says that
// the store has the text before: else a decision's intent has the only copy. text is
// the new one, if it is to be noted, too.
func (at place) intend(sum model.ContentSum, plan planner.Plan, by model.Author, kept bool, before, text string) error {
	in := model.Intent{Edits: editSpans(plan.Edits), Text: text, Placed: plan.Placed}
	in.Time = time.Now().UTC()
	plan.Describe(&in.Record, by)
	if in.Author == "" && !in.Journalled() {
		return nil
	}
	if in.Decision != nil && !kept {
		in.Before = before
	}
	return at.store.Intend(model.Path(at.rel), sum, in)
}

func editSpans(edits []diffwrap.Edit) []model.EditSpan {
	spans := make([]model.EditSpan, len(edits))
	for i, e := range edits {
		spans[i] = model.EditSpan{Off: e.Off, Len: e.Len, New: len(e.New)}
	}
	return spans
}

// interrupted is the write that was interrupted between file and store, if one was,
// and the text that it made: raw, or what somebody has made raw of since. If none was,
// that is raw. have is what the store's history led to.
func (at place) interrupted(raw, have string, h model.History) (in model.Intent, made string, ok bool) {
	if in, ok := at.store.Intended(model.Path(at.rel), raw); ok {
		if in.Decision != nil && slices.ContainsFunc(h.Records, func(r model.Record) bool {
			return r.Decision != nil && r.Decision.Batch == in.Decision.Batch
		}) {
			return model.Intent{}, raw, false // it was kept: somebody else made the same text again
		}
		return in, raw, true
	}
	in, ok = at.store.Unsettled(model.Path(at.rel))
	if !ok || in.Text == "" {
		return model.Intent{}, raw, false
	}
	if len(h.Records) == 0 {
		have = in.Beginning(in.Text)
	}
	if !in.Leads(have, in.Text) || textmerge.Distance(in.Text, raw) >= textmerge.Distance(have, raw) {
		return model.Intent{}, raw, false // it was kept, or the file never had it
	}
	return in, in.Text, true
}

// catchUpTo changes the document from have to raw: by the write that was interrupted,
// if one was, and then as a person's save.
func (n *note) catchUpTo(at place, raw, have string, h model.History) []model.Record {
	in, made, _ := at.interrupted(raw, have, h)
	records := n.recordsTo(made, have, in)
	if made != raw {
		records = append(records, n.changeDoc(made, textmerge.SavedEdits(made, raw), sourceOrigin{}))
	}
	return records
}

// recordsTo changes the document from have to raw, as intent says, or else as a
// person's save. A write of a note that the store did not know comes after the
// text that it was about.
func (n *note) recordsTo(raw, have string, intent model.Intent) (records []model.Record) {
	if first := intent.Beginning(raw); n.kept == 0 && first != "" {
		records = append(records, n.changeDoc(have, diffwrap.Diff(have, first), sourceOrigin{}))
		have = first
	}
	edits, ok := intent.Script(have, raw)
	saved := intent.Author == "" && !intent.Journalled()
	switch {
	case ok:
	case saved:
		edits = textmerge.SavedEdits(have, raw)
	default:
		edits = diffwrap.Diff(have, raw)
	}
	if saved {
		return append(records, n.changeDoc(have, edits, sourceOrigin{}))
	}
	plan := planner.Plan{Edits: edits, FrontMatter: intent.FrontMatter, Decision: intent.Decision, Proposal: intent.Proposal}
	if ok {
		plan.Marks, plan.Placed = intent.Marks, intent.Placed
	} else if d := intent.Decision; d != nil {
		plan.Decision = d.WithoutRuns()
	}
	rec := n.carryOut(have, &plan, model.Author{Name: intent.Author, Session: intent.Session})
	if !intent.Time.IsZero() {
		rec.Time = intent.Time
	}
	return append(records, rec)
}
