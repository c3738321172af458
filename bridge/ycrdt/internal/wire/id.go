package wire

import (
	"fmt"
	"maps"
	"slices"

	"github.com/relayfs/relayfs/bridge/ycrdt/internal/lib0"
)

// MaxInt is the largest client ID, and the largest clock in a state vector or a delete set: 2^53-1.
const MaxInt = lib0.MaxInt

// MaxClock is the largest clock of a struct, as in yrs, the engine of y-sweet. Yjs itself allows clocks up to MaxInt,
// but no client lives for four billion units.
const MaxClock = 1<<32 - 1

type ClientID uint64

type ID struct {
	Client ClientID
	Clock  uint64
}

type StateVector map[ClientID]uint64

// Encode returns the state vector in the form that sync messages use: a count, then a (client, clock) pair of varints
// for each client, beginning with the highest client.
func (sv StateVector) Encode() []byte {
	clients := slices.Sorted(maps.Keys(sv))
	out := lib0.AppendUint(nil, uint64(len(clients)))
	for _, c := range slices.Backward(clients) {
		out = lib0.AppendUint(out, uint64(c))
		out = lib0.AppendUint(out, sv[c])
	}
	return out
}

func DecodeStateVector(data []byte) (StateVector, error) {
	r := lib0.NewReader(data)
	sv := ReadStateVector(&r)
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("state vector: %w: %w", ErrMalformed, err)
	}
	return sv, nil
}

// ReadStateVector reads a state vector. Check r.Err afterwards.
func ReadStateVector(r *lib0.Reader) StateVector {
	n := r.Count(2, maxClients)
	sv := make(StateVector, n)
	for ; n > 0 && r.Err() == nil; n-- {
		client := ClientID(r.Uint())
		sv[client] = r.Uint()
	}
	return sv
}
