// Package store is the model.Store of a running process. It stores the documents' Yjs updates, and relayfs's own data about
// them.
//
// # Log and checkpoint
//
// Each change is a frame of the log (internal/wal). It survives a crash of the process once the call returns. The log is
// synced within a second, or before the call returns if the source has no copy of the change. checkpoint.db, a bbolt
// file in the same folder (internal/checkpoint), is a checkpoint of the log. The store updates it in Close, and when the
// log is ten seconds old or 4 MiB long. Every read combines the checkpoint with the frames after it (state.go), so the
// time of a checkpoint changes no result.
//
// # Problems
//
// A Store reports whether it can store changes, as model.Problems. An attempt is an append to the log with its sync.
// After a frame that did not fit on the disk, Problems tries one of the same length with padding. A failed checkpoint is
// a separate problem and loses no data: the log has everything. Damage stays a problem until the store is opened again.
//
// Methods are safe for concurrent use. One process at a time can open the store; others get ErrLocked. A damaged file is
// ErrDamaged, a full disk model.ErrNoSpace; data stored before is kept.
package store
