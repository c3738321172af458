// Package note keeps each note's text, CRDT document and file consistent.
//
// A Note that is only read is just the text of its file. The first write creates its ycrdt.Doc or loads it from the
// Store. From then on changes of valid text go through the Doc, so characters keep their CRDT IDs and a stale write can
// be merged.
//
// A Note finds its current Location through its Node in the tree of names. Its lock admits one writer at a time and is
// held during disk I/O. Lock returns a Locked, whose methods require the lock. Version does not take the lock once the
// note is loaded; Suggestions, Threads and Outcomes take it. A Set has the state that the notes of a workspace share.
//
// Two pure packages are below it: attribution determines from the records who wrote what, and planner computes the
// [planner.Plan] of a write, a decision or an undo. [Note.Change] carries out a Plan.
package note
