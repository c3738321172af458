package model

import "slices"

// Undos indexes the undos in a journal by the decisions that they undo.
type Undos map[undoneIn][]undo

// undoneIn identifies a batch in one document, or the decisions of a batch on proposals.
type undoneIn struct {
	root  string
	id    DocID
	batch string
}

type undo struct {
	seq    uint64 // the undo's Decision.UndoesSeq
	covers func(item string) bool
}

// UndosOf returns the undos of a journal. journal may have only the newest entries, because an undo is newer than the
// entries that it undoes.
func UndosOf(journal []JournalEntry) Undos {
	undos := make(Undos)
	for _, e := range journal {
		if d := e.Decision; d != nil && d.Verdict == Undone {
			in := undoneIn{e.Root, e.ID, d.Undoes}
			undos[in] = append(undos[in], undo{d.UndoesSeq, d.Covers()})
		}
	}
	return undos
}

// Undoable reports whether a part of an entry can be undone, and returns the items of that part. Undos, session notes
// and approvals cannot be undone.
func (u Undos) Undoable(e JournalEntry) (items []DecidedItem, ok bool) {
	d := e.Decision
	if !e.Journalled() || d != nil && d.Verdict == Undone {
		return nil, false
	}
	undone := func(item string) bool {
		return slices.ContainsFunc(u[undoneIn{e.Root, e.ID, e.BatchOf()}], func(x undo) bool {
			return (x.seq == 0 || x.seq == e.Seq) && x.covers(item)
		})
	}
	if d == nil || len(d.Items) == 0 {
		return nil, !undone("")
	}
	for _, item := range d.Items {
		if !undone(item.ID) {
			items = append(items, item)
		}
	}
	return items, len(items) > 0
}

// Covers returns a function that reports whether an undo applies to the item with the given ID. An undo without items
// applies to all items.
func (d *Decision) Covers() func(item string) bool {
	if len(d.Items) == 0 {
		return func(string) bool { return true }
	}
	ids := make(map[string]bool, len(d.Items))
	for i := range d.Items {
		ids[d.Items[i].ID] = true
	}
	return func(item string) bool { return ids[item] }
}

// RunsOf returns the characters of the decision's items to which an undo applies, and the characters that belong to no
// item.
func (d *Decision) RunsOf(undo *Decision) []DecidedRun {
	takes := undo.Covers()
	return slices.DeleteFunc(slices.Clone(d.Runs), func(r DecidedRun) bool {
		return r.Mark < len(d.Marks) && !takes(d.Items[d.Marks[r.Mark].Item].ID)
	})
}
