package planner

import (
	"bytes"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// Save plans a user's save: the change of a document's text, oldText, to raw. A file that holds the text of an earlier
// state, byte for byte, restores that state: git, a backup or a sync tool wrote the file, or it is the second write of a
// program that saves in two writes. The restored characters keep their authors. All other text in a save counts as typed.
// history returns the document's records, and its states from before records were merged.
func Save(table *attribution.Table, text *ycrdt.Text, oldText, raw string, history func() ([]model.Record, []model.Revision)) Plan {
	u := table.UnitsOf(oldText, text.Runs())
	change := textmerge.DiffExternal(oldText, raw, table.BrokenDelimiters(u))
	if mayRestore(change.Edits, raw, text) {
		records, older := history()
		if plan, ok := restoring(records, older, oldText, raw); ok {
			return plan
		}
	}
	plan := Plan{Edits: change.Edits, Typed: true}
	for _, m := range change.Moved {
		plan.Remaps = append(plan.Remaps, u.MovedTo(m.From, m.To.Start)...)
	}
	for _, body := range change.Plain {
		plan.Plain = append(plan.Plain, u.PendingIn(body)...)
	}
	for _, m := range change.Broken {
		if u.Delimits(m.From) {
			plan.BrokenDelimiters = append(plan.BrokenDelimiters, model.OffsetRange(m.To))
		}
	}
	return plan
}

// mayRestore reports whether a save may restore an earlier state. A save that only adds text restores nothing if the
// document has no deleted text. A save that only deletes text, and leaves no mark, is a deletion: an undo can restore the
// text that was added after that state.
func mayRestore(edits []diffwrap.Edit, raw string, text *ycrdt.Text) bool {
	switch {
	case !slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.Len > 0 }):
		return slices.ContainsFunc(text.Pieces(0, text.Len()), func(p ycrdt.Piece) bool { return p.Deleted })
	case !slices.ContainsFunc(edits, func(e diffwrap.Edit) bool { return e.New != "" }):
		return attribution.MarksIn(raw)
	}
	return true
}

// restoring plans the return to the newest earlier state whose text is raw. ok is false if there is none among the last
// maxStates states, or if no agent has written in the document. oldText is the text after records. The first record
// contains the changes of all merged records, so records take precedence over older.
func restoring(records []model.Record, older []model.Revision, oldText, raw string) (plan Plan, ok bool) {
	texts, seqs, err := statesOf(records, older)
	if err != nil || texts == nil || !texts.Holds(texts.Last, oldText) {
		return plan, false
	}
	last := texts.Last // the last state before the next text change
	for _, state := range slices.Backward(changing(texts)) {
		if texts.Holds(state, raw) {
			records = slices.DeleteFunc(slices.Clone(records), func(r model.Record) bool { return r.Seq > seqs[last] })
			return restore(texts, last, attribution.NewTable(records), raw), true
		}
		last = state - 1
	}
	return plan, false
}

// restore plans the return to a state. raw is the text of that state, and table has its facts.
func restore(texts *model.Texts, state int, table *attribution.Table, raw string) (plan Plan) {
	var runs []ycrdt.Run
	off, to := 0, 0 // offsets in the text before and after the save
	for i := range texts.Ranges {
		x := &texts.Ranges[i]
		present, stays := x.Until == model.StillPresent, x.In(state)
		at := diffwrap.Span{Start: to, End: to + len(x.Text)}
		switch {
		case present && !stays:
			plan.Edits = append(plan.Edits, diffwrap.Edit{Off: off, Len: len(x.Text)})
		case stays && !present:
			plan.Edits = append(plan.Edits, diffwrap.Edit{Off: off, New: x.Text})
			plan.Placements = append(plan.Placements, Placement{Len: len(x.Text), After: x.At})
			plan.Remaps = append(plan.Remaps, model.IDRemap{Old: x.At, New: model.OffsetRange(at)})
		}
		if present {
			off += len(x.Text)
		}
		if stays {
			runs, to = append(runs, x.At.Run()), at.End
		}
	}
	plan.Restored = []model.IDRange{model.OffsetRange(diffwrap.Span{End: len(raw)})}
	u := table.UnitsOf(raw, runs)
	plan.Marks = u.Waiting()
	for p := range u.In(diffwrap.Span{End: len(raw)}) {
		if p.Literal {
			plan.LiteralOpeners = append(plan.LiteralOpeners, model.OffsetRange(p.Span))
		}
		if p.Broken {
			plan.BrokenDelimiters = append(plan.BrokenDelimiters, model.OffsetRange(p.Span))
		}
	}
	return plan
}

// statesOf returns the state after each change in older and records, and for each state the number of its last record.
// It returns nil if no agent wrote in the document.
func statesOf(records []model.Record, older []model.Revision) (*model.Texts, []uint64, error) {
	if !slices.ContainsFunc(records, func(r model.Record) bool { return r.Author != "" }) {
		return nil, nil, nil
	}
	var updates [][]byte
	var did []*ycrdt.Snapshot
	var seqs []uint64
	add := func(s *ycrdt.Snapshot, seq uint64) { did, seqs = append(did, s), append(seqs, seq) }
	merged := uint64(0) // last record whose update is merged into the first one; a later record may change no text, too
	for i, rec := range records {
		updates = append(updates, rec.Update)
		if i == 0 || merged == records[i-1].Seq && bytes.Equal(rec.Update, model.EmptyUpdate()) {
			merged = rec.Seq
		}
	}
	for _, m := range older {
		if m.Units != nil && m.Seq <= merged {
			add(m.Units, m.Seq)
		}
	}
	for i, update := range updates {
		s, err := ycrdt.SnapshotOf(update)
		if err != nil {
			return nil, nil, err
		}
		add(s, records[i].Seq)
	}
	held, err := ycrdt.MergeUpdates(updates...)
	if err != nil {
		return nil, nil, err
	}
	texts, err := model.TextsOf(held, did)
	return texts, seqs, err
}

const maxStates = 1024

// changing returns the last maxStates states that added or deleted text, oldest first.
func changing(t *model.Texts) (states []int) {
	for _, x := range t.Ranges {
		if states = append(states, x.From); x.Until <= t.Last {
			states = append(states, x.Until)
		}
	}
	slices.Sort(states)
	states = slices.Compact(states)
	return states[max(0, len(states)-maxStates):]
}
