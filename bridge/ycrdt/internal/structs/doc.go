// Package structs holds the structs of a document (Yjs's Items and GC structs) in memory: each in an [Item] of a [Slab],
// their content in an [Arena], their clients in a [ClientTable], and the history of each client in a [ClockIndex]. It
// splits, merges and compacts them. It does not handle the parents of items or their order.
//
// It has no locks; the owner of a [Set] guards it.
package structs
