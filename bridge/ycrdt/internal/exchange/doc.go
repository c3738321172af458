// Package exchange brings updates into a document and out of it: it checks whether there is room, finds the order in which
// structs can be integrated, keeps what waits for updates that are missing, and encodes what a peer lacks. The format itself
// is package wire, the place of each item package edit.
//
// It has no locks; who holds the store protects its [Updates], too.
package exchange
