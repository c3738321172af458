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
// Each change is a frame (internal/frame) of the log (internal/wal). It outlives the process when the call returns. The
// log is synced within a second, and before the call returns for a change that the source has no copy of.
// checkpoint.db, a bbolt file in the same folder (internal/checkpoint), is a checkpoint of the log: Close updates it, and
// the store itself when the log is ten seconds old or 4 MiB long. Every answer is the checkpoint with the frames after
// it (state.go), so the time of a checkpoint changes no answer.
//
// # Problems
//
// A Store reports whether changes are kept, by the law of model.Problems. An attempt is an append to the log with its
// sync. A frame that did not fit on the disk has failed until one as long fits: Problems tries that with a frame of
// padding. A checkpoint that fails is a problem of its own, which loses nothing: the log has it all. Damage stays a
// problem until the store is opened again.
//
// # Concurrency and errors
//
// All methods may be called from several goroutines. One process at a time has the store open; another gets
// ErrLocked. A damaged file is ErrDamaged, a full disk model.ErrNoSpace: what was kept before stays as it was.
package store
