// Package store keeps the documents' Yjs updates, and what relayfs knows beside
// the text. It is the model.Store of a running process.
//
//	s, err := store.Open(filepath.Join(stateDir, "store"), store.Options{})
//	...
//	defer s.Close()
//	seq, err := s.Append(id, "Projects/Plan.md", model.Record{Update: update, Author: "claude", Time: now})
//	h, err := s.Load(id)
//
// # Log and checkpoint
//
// Everything that a Store is told is a frame (internal/frame) of its log (internal/wal): what is
// appended, taken back, decided, renamed and forgotten, and what the source's files hold. A frame
// outlives the process when the call returns; the log is synced within a second, and before the call
// returns for what the source has no copy of. checkpoint.db, in the same folder, is a checkpoint of
// the log, a bbolt file (internal/checkpoint). It is brought up to date when the log is ten seconds
// old or 4 MiB long, and at the end. What the store answers is the checkpoint with the frames after
// it (state.go).
// So the log alone decides, and when a checkpoint is written changes no answer.
//
// # Problems
//
// A Store knows whether changes are kept, by the law of model.Problems. An attempt is an append to
// the log with its sync. If the last one has failed, Problems is one, too: it appends as much as did
// not fit, which says nothing. One that was too large for the disk has failed until something as
// large fits. Whatever was told to a Store without an error is in the log, so a checkpoint that fails
// is a problem of its own: it loses nothing. Damage is one from when it is met until the store is
// opened anew.
//
// # Concurrency and errors
//
// All methods may be called from several goroutines. One process at a time has
// the store open; another gets ErrLocked. A damaged file is ErrDamaged, with what
// to do about it. A full disk is model.ErrNoSpace, and what was kept before
// stays as it was.
package store
