package model

import "slices"

// This file accounts for what has been undone: item by item.

// Undos are the undos that a journal tells of, by what they took back.
type Undos map[undoneIn][]undo

// undoneIn is a batch in one document, or what a batch decided on proposals.
type undoneIn struct {
	folder string
	id     DocID
	batch  string
}

type undo struct {
	seq   uint64 // of Decision.UndoesSeq
	takes func(item string) bool
}

// UndosOf are those of a journal, or of the newest entries of one: an undo is newer than
// what it takes back.
func UndosOf(journal []JournalEntry) Undos {
	undos := make(Undos)
	for _, e := range journal {
		if d := e.Decision; d != nil && d.Verdict == Undone {
			in := undoneIn{e.Folder, e.ID, d.Undoes}
			undos[in] = append(undos[in], undo{d.UndoesSeq, d.Takes()})
		}
	}
	return undos
}

// Left says whether something of an entry can be undone, and which of its items, if it
// has any. An undo itself cannot, nor what is told of a session.
func (u Undos) Left(e JournalEntry) (items []Decided, ok bool) {
	d := e.Decision
	if !e.Undoable() || d != nil && d.Verdict == Undone {
		return nil, false
	}
	undone := func(item string) bool {
		return slices.ContainsFunc(u[undoneIn{e.Folder, e.ID, e.BatchOf()}], func(x undo) bool {
			return (x.seq == 0 || x.seq == e.Seq) && x.takes(item)
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

// Takes says which items an undo takes back of what it undoes, by their IDs: one that
// names none takes back all.
func (d *Decision) Takes() func(item string) bool {
	if len(d.Items) == 0 {
		return func(string) bool { return true }
	}
	ids := make(map[string]bool, len(d.Items))
	for i := range d.Items {
		ids[d.Items[i].ID] = true
	}
	return func(item string) bool { return ids[item] }
}

// RunsOf are the characters of the decision that an undo is about: those of the items that
// it takes back.
func (d *Decision) RunsOf(undo *Decision) []DecidedRun {
	takes := undo.Takes()
	return slices.DeleteFunc(slices.Clone(d.Runs), func(r DecidedRun) bool {
		return r.Mark < len(d.Marks) && !takes(d.Items[d.Marks[r.Mark].Item].ID)
	})
}
