package ycrdt

import (
	"fmt"
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/exchange"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
	"github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"
)

// A Snapshot is an immutable fingerprint of a document's state: the units that the document has seen and the units that
// are deleted. Two documents with equal snapshots have the same content.
type Snapshot struct {
	state   StateVector
	deletes wire.DeleteSet // in normal form
}

func (d *Doc) Snapshot() *Snapshot {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &Snapshot{d.store.StateVector(), exchange.DeleteSet(d.store, d.store.ActiveClients())}
}

// DecodeSnapshot decodes the output of [Snapshot.Encode] or of Yjs's encodeSnapshot (V1). The error wraps
// [ErrMalformed].
func DecodeSnapshot(data []byte) (*Snapshot, error) {
	r := lib0.NewReader(data)
	snap := &Snapshot{deletes: wire.ReadDeleteSet(&r)}
	snap.state = wire.ReadStateVector(&r)
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("snapshot: %w: %w", ErrMalformed, err)
	}
	snap.deletes.Normalize()
	return snap, nil
}

// Encode returns the snapshot in the format of Yjs's encodeSnapshot (V1): the delete set, then the state vector.
func (s *Snapshot) Encode() []byte {
	return append(s.deletes.AppendTo(nil), s.state.Encode()...)
}

func (s *Snapshot) Equal(other *Snapshot) bool {
	return maps.Equal(s.state, other.state) && slices.Equal(s.deletes, other.deletes)
}

func (s *Snapshot) StateVector() StateVector { return maps.Clone(s.state) }

// Contains reports whether a document in state s has everything that a document in state other has, so that the first
// document has nothing to fetch from the second.
func (s *Snapshot) Contains(other *Snapshot) bool {
	for client, clock := range other.state {
		if s.state[client] < clock {
			return false
		}
	}
	merged := slices.Concat(s.deletes, other.deletes)
	merged.Normalize()
	return slices.Equal(merged, s.deletes)
}

// SnapshotOf returns the state that an update describes: the end of the last struct of each client, and the units that
// the update deletes. The errors are those of [MergeUpdates].
func SnapshotOf(update []byte) (*Snapshot, error) {
	ends, deletes, err := wire.EndsOf(update)
	return &Snapshot{ends, deletes}, err
}

func JoinSnapshots(snapshots ...*Snapshot) *Snapshot {
	joined := &Snapshot{state: make(StateVector)}
	for _, s := range snapshots {
		joined.deletes = append(joined.deletes, s.deletes...)
		for client, clock := range s.state {
			joined.state[client] = max(joined.state[client], clock)
		}
	}
	joined.deletes.Normalize()
	return joined
}

func (s *Snapshot) DeletedRuns() []Run {
	runs := make([]Run, len(s.deletes))
	for i, r := range s.deletes {
		runs[i] = Run{ID{Client: r.Client, Clock: r.Clock}, int(r.Length)}
	}
	return runs
}

// WithDeletesOf returns the update with its deletions replaced by those of a snapshot. A document that applies an
// update without deletions shows every text that the update still contains, each at its place. The errors are those of
// [MergeUpdates].
func WithDeletesOf(update []byte, s *Snapshot) ([]byte, error) {
	return wire.WithDeletes(update, s.deletes)
}
