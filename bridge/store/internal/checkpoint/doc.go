// Package checkpoint stores the state of the log's frames in a bbolt file. It does not read the log. Its caller applies
// frames ([File.Apply]) in the order of their log sequence numbers (LSN), and reads the state ([File.View]), or the
// state including frames that are not applied yet ([File.ViewWith]).
//
// # Layout
//
// SEQ is a number in 8 bytes, big endian. Values are CBOR as encoded by package wal, unless stated otherwise.
//
//	meta/version       number of the layout, as text
//	meta/applied       SEQ: LSN of the last applied frame
//	paths/PATH         DocID of the document at the path
//	docs/ID/p          its path; missing once another document has taken over the path
//	docs/ID/u          SEQ, and the updates up to it merged into one
//	docs/ID/r SEQ      a record; after a merge it has the snapshot of its update instead of the update,
//	                   until it expires
//	docs/ID/h SEQ      like docs/ID/r, for merged records that only the history needs; often one per minute
//	docs/ID/b          the oldest state that the history still has: its SEQ, time and snapshot
//	docs/ID/m          the document's changes of path
//	files/ID           SEQ of the last record whose text the document's file is known to have, SHA-256 of that
//	                   text, and device, inode and time of birth of the file, in 8 bytes each
//	unsettled/ID       empty; the document has a record after the SEQ in files/ID
//	unsent/ID          SEQ of the last record that a server has not acknowledged
//	journal/N          the Nth journalled record: its document's ID and its number, or the record itself if it
//	                   has no document
//	sessions/SESSION   the agent's newest description of the session (model.SessionNote)
//	proposals/ID       a pending proposal
//
// Once a document's file holds its text, its separate updates are no longer needed. Apply merges them when there are
// many (mergeAt). The records that attribution and undo need stay, without their updates. For a limited time
// (Options.History) the snapshots of the merged records also show which text existed at which time. The next merge
// removes expired snapshots; for a document that does not change any more, Expire removes them.
//
// # Versions and damage
//
// The version covers this file and the log. Open refuses a file of another version with model.ErrUnknownStore and does
// not change it. Open also checks the structure of all pages, without the values in them; the first read of a damaged
// value returns ErrDamaged. Check reads everything.
package checkpoint
