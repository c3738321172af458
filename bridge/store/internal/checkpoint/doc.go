// Package checkpoint keeps the state that the frames of a log lead to in a bbolt file. It
// does not know the log: its caller applies frames, and finds out which was the last one.
//
//	f, err := checkpoint.Open("/state/store.db", dir, checkpoint.Options{})
//	err = f.Apply(entries) // durably, all or none
//	err = f.View(func(v checkpoint.View) error { id := v.DocAt("Plan.md") ... })
//
// # Layout
//
//	meta/version            "7"
//	meta/applied            LSN of the last frame that is in the file
//	paths/PATH              the DocID of the document that lives there
//	docs/ID/path            its path; missing once another document took it over
//	docs/ID/state           materialised seq (8 bytes, big endian), SHA-256 of the text
//	docs/ID/base            seq (8 bytes), the updates up to seq merged into one
//	docs/ID/records/SEQ     a record, as package frame codes it
//	docs/ID/history/SEQ     the same of merged records: of the last one of an author and minute,
//	                        with the snapshot of their updates in the place of an update
//	docs/ID/begin           seq (8 bytes), and the like of the state before the first of these
//	docs/ID/moves           the document's changes of path as JSON
//	journal/N               seq (8 bytes) and ID of the Nth journalled record; without an ID,
//	                        seq is a key of decided
//	decided/SEQ             a record as JSON: what was decided on a proposal, or told of a session
//	sessions/SESSION        the newest note of the session as JSON
//	proposals/ID            a pending proposal as JSON
//	unsent/ID               seq of the last record that a server has not acknowledged
//
// A document whose file holds its text no longer needs its updates one by one: Apply
// merges them, and of the records remains who wrote what, and when which text was there. That
// is kept for a time, and of a document 10 000 such moments at most.
//
// # Versions
//
// The version covers this file and the log. Open refuses a file of another version with
// model.ErrUnknownStore, and leaves it as it is.
package checkpoint
