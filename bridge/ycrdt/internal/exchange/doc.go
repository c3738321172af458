// Package exchange integrates updates into a document and encodes them: it checks for room, orders structs by their
// dependencies, holds back updates that depend on missing ones, and encodes the data that a peer lacks. Package wire
// defines the format; package edit places the items.
//
// The lock of the store also guards its [Updates].
package exchange
