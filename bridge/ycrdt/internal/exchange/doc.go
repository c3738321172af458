// Package exchange integrates updates into a document, and encodes the changes that a peer lacks or that a transaction
// has made. It refuses an update for which the document has no room, orders structs by their dependencies, and holds
// back updates that depend on missing updates. Package wire defines the format; package edit places the items.
//
// It has no locks; the owner of the ytypes.Store also guards its [Updates].
package exchange
