// Package checkpoint has the state of the log's frames in a bbolt file. It does not know the log: its caller applies frames,
// and asks for the last one.
//
//	f, err := checkpoint.Open("/state/store/checkpoint.db", dir, checkpoint.Options{})
//	err = f.Apply(entries) // durably, all or none
//	err = f.View(func(v checkpoint.View) error { id := v.DocAt("Plan.md") ... })
//
// # Layout
//
// SEQ is a number in 8 bytes, big endian. Values are CBOR, as package wal codes it, unless it says otherwise here.
//
//	meta/version       the layout's number, as text
//	meta/applied       SEQ: the LSN of the last frame that is in the file
//	paths/PATH         the DocID of the document that lives there
//	docs/ID/p          its path; missing once another document took it over
//	docs/ID/s          materialised SEQ and SHA-256 of the text
//	docs/ID/u          SEQ, and the updates up to it merged into one
//	docs/ID/r SEQ      a record; one that was merged has the snapshot of its update in the place
//	                   of that, until it expires
//	docs/ID/h SEQ      the same of merged records that nothing but the history needs, those of a minute in one
//	docs/ID/b          the like of the state before the first that has not expired
//	docs/ID/m          the document's changes of path
//	unsettled/ID       nothing: the document has a record after what was materialised
//	unsent/ID          SEQ of the last record that a server has not acknowledged
//	journal/N          the Nth journalled record: its document's ID and its number, or, if it has no
//	                   document, itself
//	sessions/SESSION   the newest note of the session
//	proposals/ID       a pending proposal
//
// A document whose file holds its text no longer needs its updates one by one: Apply
// merges them, and of the records remains who wrote what, and when which text was there. That
// is kept for a time. Of a document that does not change, Expire takes it out then.
//
// # Versions and damage
//
// The version covers this file and the log. Open refuses a file of another version with model.ErrUnknownStore, and leaves it
// as it is. It reads nothing else of the file: damage is ErrDamaged where it is first met. Check reads everything.
package checkpoint
