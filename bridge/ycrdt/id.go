package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// A ClientID identifies one writer of a document in one session. Yjs uses 32 random bits; IDs of up to 53 bits are
// valid.
type ClientID = wire.ClientID

// An ID identifies one unit of content forever, by its Client and its Clock. The clock counts the units (UTF-16 units
// of text, elements of an array) that this client created.
type ID = wire.ID

// A StateVector maps each client to the next clock that a document expects; the document has all lower clocks. Encode
// returns it in the form that sync messages use.
type StateVector = wire.StateVector

// DecodeStateVector decodes the output of [StateVector.Encode] or Yjs. Like Yjs it ignores bytes after the last pair.
// The error wraps [ErrMalformed].
func DecodeStateVector(data []byte) (StateVector, error) { return wire.DecodeStateVector(data) }
