// Package structs stores the structs of a document (the Items and GC structs of Yjs) in memory: each struct in an
// [Item] of a [Slab], the content in an [Arena], the clients in a [ClientTable], and the history of each client in a
// [ClockIndex]. A [Set] is all of these. The package splits and merges content, and compacts items and content. Package
// ytypes has the parents of items and merges neighbours; package edit splits items, orders them, and chooses which ones
// merge.
//
// It has no locks; the owner of a [Set] guards it.
package structs
