// Package note keeps notes: their text, their documents and their files in step.
//
// A Note that is only read is the text of its file. Its ycrdt.Doc is made, or loaded from
// the Store, when it is first written; from then on every change of the file goes through
// the Doc, so that characters keep their identity and a stale writer's change finds its
// place.
//
// A Note knows its Place, which a rename changes, through the Node that it is the note of.
// Its lock admits one writer at a time and is held across disk. Lock returns the Locked,
// which has all that happens under the lock; readers of a loaded note do not take it. What the
// notes of a workspace share is a Set.
//
// Two pure packages are inside: internal/attribution tells from the records who wrote what, and
// internal/planner computes the [Plan] of a write, a decision or an undo. A Change carries one out.
package note
