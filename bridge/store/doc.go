// Package store keeps the documents' Yjs updates, and what relayfs knows beside
// the text, in one bbolt file. It is the model.Store of a running process.
//
//	s, err := store.Open(filepath.Join(stateDir, "store.db"), store.Options{})
//	...
//	defer s.Close()
//	seq, err := s.Append(id, "Projects/Plan.md", model.Record{Update: update, Author: "claude", Time: now})
//	h, err := s.Load(id)
//
// # Log and checkpoint
//
// Everything that a Store is told is a frame of its log (package wal), in the folder
// store.db.log: what is appended, taken back and decided, and what the source's files
// hold. A frame outlives the process when the call returns; the log is synced within a
// second, and before the call returns for what the source has no copy of. The bbolt file
// is a checkpoint of the log. It is brought up to date when the log is ten seconds old or
// 4 MiB long, when something asks for what only the file can tell, and at the end. Until
// then Load and DocID look at the frames in memory (tail.go), too. Changes of names are
// made in the checkpoint at once.
//
//	meta/version            "3"
//	meta/applied            LSN of the last frame that is in the file
//	paths/PATH              the DocID of the document that lives there
//	docs/ID/path            its path; missing once another document took it over
//	docs/ID/state           materialised seq (8 bytes, big endian), SHA-256 of the text
//	docs/ID/base            seq (8 bytes), the updates up to seq merged into one
//	docs/ID/records/SEQ     length of the JSON (uvarint), the record as JSON, its update
//	journal/N               seq (8 bytes) and ID of the Nth record that Journal lists; without an ID,
//	                        seq is a key of decided
//	decided/SEQ             a record as JSON: what was decided on a proposal
//	proposals/ID            a pending proposal as JSON
//	unsent/ID               seq of the last record that a server has not acknowledged
//
// A document whose file holds its text does not need its updates one by one any more: a
// checkpoint merges them, and of the records remains who wrote what.
//
// Files of older versions are brought up to date when they are opened (upgrade.go). A
// version that this package does not know is model.ErrUnknownStore, and the file is left
// as it is.
//
// # Concurrency and errors
//
// All methods may be called from several goroutines. One process at a time has
// the file open; another gets ErrLocked. A damaged file is ErrDamaged, with what
// to do about it. A full disk is model.ErrNoSpace, and what was kept before
// stays as it was.
package store
