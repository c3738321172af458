package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// MergeUpdates merges updates of format V1 into one update with the same effect. It needs no document. The result has a
// Skip struct for missing structs between two updates, and a document that applies the result waits for the missing
// structs. The error wraps [ErrMalformed] or is [ErrUpdateV2].
//
// The clients of an update may be in any order. (The mergeUpdates of Yjs requires that the highest client comes first.
// If another implementation wrote another order, mergeUpdates loses structs or writes a client twice.)
func MergeUpdates(updates ...[]byte) ([]byte, error) { return wire.Merge(updates...) }
