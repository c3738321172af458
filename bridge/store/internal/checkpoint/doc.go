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
//	docs/ID/p          its path; missing once another document has taken over the path
//	docs/ID/s          materialised SEQ and SHA-256 of the text
//	docs/ID/u          SEQ, and the updates up to it merged into one
//	docs/ID/r SEQ      a record; after a merge it has the snapshot of its update instead of the update,
//	                   until it expires
//	docs/ID/h SEQ      like docs/ID/r, for merged records that only the history needs; one per minute
//	docs/ID/b          like docs/ID/r, for the state before the first one that has not expired
//	docs/ID/m          the document's changes of path
//	unsettled/ID       empty; the document has a record after the materialised one
//	unsent/ID          SEQ of the last record that a server has not acknowledged
//	journal/N          the Nth journalled record: its document's ID and its number, or the record itself if it
//	                   has no document
//	sessions/SESSION   the newest note of the session
//	proposals/ID       a pending proposal
//
// Once a document's file holds its text, its separate updates are no longer needed, and Apply merges them. The merged
// record keeps the authors of the records. For a limited time it also keeps which text existed when. For a document
// that does not change any more, Expire removes that information at the end of the time.
//
// # Versions and damage
//
// The version covers this file and the log. Open refuses a file of another version with model.ErrUnknownStore and does
// not change it. Open checks nothing else in the file; the first read of a damaged part returns ErrDamaged. Check reads
// everything.
package checkpoint
