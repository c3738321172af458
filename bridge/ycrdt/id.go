package ycrdt

import "github.com/relayfs/relayfs/bridge/ycrdt/internal/wire"

// A ClientID names one writer of a document for the time of one session. Yjs
// draws 32 random bits; ids of up to 53 bits are legal.
type ClientID = wire.ClientID

// An ID names one unit of content forever, by its Client and its Clock: the clock of a client counts the units (UTF-16 units
// of text, elements of an array) that this client created.
type ID = wire.ID

// A StateVector says which part of every client's history a document has: for each client the clock that it expects next.
// Everything below is there. Its method Encode returns it in the form of sync messages.
type StateVector = wire.StateVector

// DecodeStateVector reads what [StateVector.Encode] or Yjs wrote. Bytes after
// the last pair are ignored, as Yjs does. The error wraps [ErrMalformed].
func DecodeStateVector(data []byte) (StateVector, error) { return wire.DecodeStateVector(data) }
