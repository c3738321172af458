// Package store implements model.Store. A Store has the documents' Yjs updates, and relayfs's own data about them:
// records, the journal and proposals.
//
// # Log and checkpoint
//
// Each change is a frame of the log (internal/wal). It survives a crash of the process once the call returns. The log
// is synced about a second later. A change of which the source has no copy, such as a decision, is synced before the
// call returns. checkpoint.db, a bbolt file in the same folder (internal/checkpoint), is a checkpoint of the log. The
// store updates it in Close, and when the log is ten seconds old or 4 MiB long. Every read combines the checkpoint with
// the frames after it (state.go), so results do not depend on when the checkpoint is written.
//
// # Problems
//
// A Store reports as model.Problems whether it can store changes. Each append to the log, with its sync, is an attempt.
// After a frame that did not fit on the disk, Problems tries a padding frame of the same length. A failed checkpoint is
// a separate problem and loses no data, because the log has everything. Damage stays a problem until the store is
// opened again.
//
// Methods are safe for concurrent use. Only one process at a time can open the store; others get ErrLocked. A damaged
// file gives ErrDamaged, and a full disk model.ErrNoSpace. Data that was stored before such an error is kept.
package store
