package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// MergeUpdates merges updates of format V1 into one with the same effect, without a document. The result marks missing
// structs between two updates with a Skip struct, and a document that applies it waits for them. The error wraps
// [ErrMalformed] or is [ErrUpdateV2].
//
// The clients of an update may come in any order. (The mergeUpdates of Yjs requires the highest client first. If another
// implementation wrote another order, it loses structs or writes a client twice.)
func MergeUpdates(updates ...[]byte) ([]byte, error) { return wire.Merge(updates...) }

// DiffUpdate returns the part of an update that a peer with the given encoded state vector lacks, without a document.
// Deletions are always included. The errors are those of [MergeUpdates].
func DiffUpdate(update, stateVector []byte) ([]byte, error) { return wire.Diff(update, stateVector) }
