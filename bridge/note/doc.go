// Package note keeps notes: their text, their documents and their files in step.
//
// A Note that is only read is the text of its file. Its ycrdt.Doc is made, or loaded from
// the Store, when it is first written; from then on every change of the file goes through
// the Doc, so that characters keep their identity and a stale writer's change finds its
// place.
//
// OpenShared opens a note as a live document for Yjs clients. What they change is
// a person's plain text: in the Store when it is acknowledged, at once for every
// reader, and in the source's file within half a second, because a file cannot
// be written for each key. A program's write brings the file up to date, too.
//
// A Note knows its Place, which a rename changes, through the Node that it is the note of.
// Its lock admits one writer at a time and is held across disk. Lock returns the Locked,
// which has all that happens under the lock; readers of a loaded note do not take it. What the
// notes of a workspace share is a Set.
package note
