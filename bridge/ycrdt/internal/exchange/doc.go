// Package exchange integrates updates into a document ([Updates]), and encodes the changes that a peer lacks
// ([Updates.Encode]) or that a transaction has made ([EncodeTransaction]). It refuses an update for which the document
// has no room, orders structs by their dependencies, and holds back the structs and deletions that refer to structs
// which have not arrived. Package wire defines the format and checks it; package edit places the items.
//
// It has no locks; the owner of the ytypes.Store also guards its [Updates].
package exchange
