// Package structs holds the structs of a document, which are what Yjs calls Items and GC structs, as memory: an [Item] each
// in a [Slab], their content in an [Arena], the clients that made them in a [ClientTable], and the history of each client in
// a [ClockIndex]. It splits and merges them and gives memory back. What an item is a child of, and where it belongs there,
// is not its subject.
//
// It has no locks; who holds a [Set] protects it.
package structs
