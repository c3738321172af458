// Package checkpoint stores the state of the log's frames in a bbolt file. It does not depend on the log: its caller
// applies frames and reads the number of the last applied one.
//
// # Layout
//
// SEQ is a number in 8 bytes, big endian. Values are CBOR as encoded by package wal, unless stated otherwise.
//
//	meta/version       number of the layout, as text
//	meta/applied       SEQ: LSN of the last applied frame
//	paths/PATH         DocID of the document at the path
//	docs/ID/p          its path; missing once another document took it over
//	docs/ID/s          materialised SEQ and SHA-256 of the text
//	docs/ID/u          SEQ, and the updates up to it merged into one
//	docs/ID/r SEQ      a record; a merged record has the snapshot of its update instead of the update,
//	                   until it expires
//	docs/ID/h SEQ      the same for merged records that only the history needs, one per minute
//	docs/ID/b          the same for the state before the first one that has not expired
//	docs/ID/m          the document's changes of path
//	unsettled/ID       empty: the document has a record after the materialised one
//	unsent/ID          SEQ of the last record that a server has not acknowledged
//	journal/N          the Nth journalled record: its document's ID and its number, or the record itself
//	                   if it has no document
//	sessions/SESSION   the newest note of the session
//	proposals/ID       a pending proposal
//
// Once a document's file holds its text, its updates are no longer needed one by one. Apply merges them. It keeps the
// authors of the records and, for a limited time, which text existed when. For a document that does not change any more,
// Expire removes this at the end of that time.
//
// # Versions and damage
//
// The version covers this file and the log. Open refuses a file of another version with model.ErrUnknownStore and does
// not change it. It reads nothing else of the file: the first read of a damaged part returns ErrDamaged. Check reads
// everything.
package checkpoint
