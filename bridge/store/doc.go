// Package store keeps the documents' Yjs updates, and what relayfs knows beside
// the text, in one bbolt file. It is the model.Store of a running process.
//
//	s, err := store.Open(filepath.Join(stateDir, "store.db"), store.Options{})
//	...
//	defer s.Close()
//	seq, err := s.Append(id, "Projects/Plan.md", model.Record{Update: update, Author: "claude", Time: now})
//	h, err := s.Load(id)
//
// # The file
//
//	meta/version            "2"
//	paths/PATH              the DocID of the document that lives there
//	docs/ID/path            its path; missing once another document took it over
//	docs/ID/state           materialised seq (8 bytes, big endian), SHA-256 of the text
//	docs/ID/base            seq (8 bytes), the updates up to seq merged into one
//	journal/N               seq (8 bytes) and ID of the Nth record that Journal lists; without an ID,
//	                        seq is a key of decided
//	decided/SEQ             a record as JSON: what was decided on a proposal
//	proposals/ID            a pending proposal as JSON
//	unsent/ID               seq of the last record that a server has not acknowledged
//	docs/ID/records/SEQ     length of the JSON (uvarint), the record as JSON, its update
//
// Beside it lie store.db.wal, records that are not in the file yet (wal.go), and
// store.db.intents, the newest writes that were about to be made (intents.go).
//
// A file of version 1 has no proposals yet and is brought up to date when it is
// opened. A version that this package does not know is model.ErrUnknownStore, and the
// file is left as it is.
//
// # Durability
//
// What Append is given outlives the process when it returns. Records whose text
// the source holds anyway go to a write-ahead log (wal.go) and are in the file,
// synced, about a second later; the others return after the transaction that
// holds them was synced, which calls that arrive meanwhile share. What
// Materialized says is written a moment later, together with compaction: a
// document whose file holds its text does not need its updates one by one any
// more, so that they are merged, and of the records remains who wrote what.
//
// # Concurrency and errors
//
// All methods may be called from several goroutines. One process at a time has
// the file open; another gets ErrLocked. A damaged file is ErrDamaged, with what
// to do about it. A full disk is model.ErrNoSpace, and what was kept before
// stays as it was.
package store
