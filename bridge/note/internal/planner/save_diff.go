package planner

import (
	"bytes"
	"slices"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/note/internal/attribution"
	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/bridge/ycrdt"
	"github.com/relayfs/relayfs/diffwrap"
)

// SaveDiff is the change of a user's save. A file that holds the text of an earlier state, byte for byte, restores that
// state: git, a backup or a sync tool wrote the file, or it is the second write of a program that saves in two writes.
// The restored characters keep their authors. All other text in a save counts as typed.
type SaveDiff struct {
	textmerge.ExternalChange
	texts   *model.Texts       // set if the save restores an earlier state
	state   int                // index of that state
	pending []model.MarkRecord // pending suggestions of that state
}

// MayRestore reports whether the edits of a document's text may restore an earlier state: they break marks, or the
// document has deleted text and an edit adds text or cuts a word.
func (s *SaveDiff) MayRestore(oldText string, text *ycrdt.Text) bool {
	return len(s.Moved)+len(s.Broken)+len(s.Plain) > 0 ||
		slices.ContainsFunc(s.Edits, func(e diffwrap.Edit) bool { return e.New != "" || textmerge.CutsWord(oldText, e) }) &&
			slices.ContainsFunc(text.Pieces(), func(p ycrdt.Piece) bool { return p.Deleted })
}

// Restore makes the save restore the newest earlier state whose text is raw, if there is one among the last maxStates
// states and an agent has written in the document. oldText is the text after records. older are states from before
// records were merged. The first record contains the changes of all merged records, so records take precedence over
// older.
func (s *SaveDiff) Restore(records []model.Record, older []model.Revision, oldText, raw string) {
	texts, seqs, err := statesOf(records, older)
	if err != nil || texts == nil || !texts.Holds(texts.Last, oldText) {
		return
	}
	last := texts.Last // the last state before the next text change
	for _, state := range slices.Backward(changing(texts)) {
		if !texts.Holds(state, raw) {
			last = state - 1
			continue
		}
		s.texts, s.state = texts, last
		var runs []ycrdt.Run
		for i := range texts.Ranges {
			if x := &texts.Ranges[i]; x.In(last) {
				runs = append(runs, x.At.Run())
			}
		}
		oldTable := attribution.NewTable(slices.DeleteFunc(slices.Clone(records), func(r model.Record) bool { return r.Seq > seqs[last] }))
		s.pending = oldTable.UnitsOf(raw, runs).Waiting()
		return
	}
}

// Apply applies the changes to a document whose text is oldText, and completes the record.
func (s *SaveDiff) Apply(doc *ycrdt.Doc, text *ycrdt.Text, oldText string, table *attribution.Table, rec *model.Record) {
	added := uint64(0)
	before := attribution.UnitsOf(oldText, text.Runs())
	doc.Transact(func(txn *ycrdt.Txn) {
		if s.texts != nil {
			added = s.bringBack(txn, text, rec)
			return
		}
		textmerge.ApplyEdits(txn, text, oldText, s.Edits)
	})
	after := attribution.UnitsOf(text.String(), text.Runs())
	if s.texts != nil {
		for _, r := range after.Runs {
			rec.Restored = append(rec.Restored, model.RangeOf(r))
		}
		rec.Marks = resolvedMarks(s.pending, after)
	} else {
		s.name(before, after, table, rec)
	}
	if clock := doc.StateVector()[doc.ClientID()]; s.texts != nil && clock != rec.Clock+added {
		rec.Remaps = nil // formatting uses clock units too, so the new IDs differ from the predicted IDs
	}
}

// name records the CRDT IDs of moved text before and after the save, the broken delimiters of agents' marks, and the
// pending text whose marks no longer exist.
func (s *SaveDiff) name(before, after *attribution.Units, table *attribution.Table, rec *model.Record) {
	for _, m := range s.Moved {
		rec.Remaps = append(rec.Remaps, resolvedRemaps(before.MovedTo(m.From, m.To.Start), after)...)
	}
	for _, body := range s.Plain {
		for _, r := range before.Resolve(model.OffsetRange(body)) {
			rec.Plain = append(rec.Plain, table.Waiting(r)...)
		}
	}
	for _, m := range s.Broken {
		if !slices.ContainsFunc(before.Resolve(model.OffsetRange(m.From)), func(r model.IDRange) bool { return !table.Delimits(r) }) {
			rec.BrokenDelimiters = append(rec.BrokenDelimiters, after.Resolve(model.OffsetRange(m.To))...)
		}
	}
}

// bringBack restores the state s.state, and returns the number of clock units that it added.
func (s *SaveDiff) bringBack(txn *ycrdt.Txn, text *ycrdt.Text, rec *model.Record) (added uint64) {
	pos := 0
	for i := range s.texts.Ranges {
		x := &s.texts.Ranges[i]
		size, live, stays := int(x.At.Len), x.Until == model.StillPresent, x.In(s.state)
		switch {
		case live && !stays:
			text.Delete(txn, pos, size)
			continue
		case !stays:
			continue
		case !live:
			now := model.IDRange{Client: rec.Client, Clock: rec.Clock + added, Len: x.At.Len}
			if text.InsertAt(txn, x.At.Last(), ycrdt.After, x.Text) {
				rec.Remaps = append(rec.Remaps, model.IDRemap{Old: x.At, New: now})
			} else {
				text.InsertAfter(txn, pos, x.Text)
			}
			added += x.At.Len
		}
		pos += size
	}
	return added
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
