// Package structs holds the structs of a document (Yjs's Items and GC structs) in memory: each in an [Item] of a [Slab],
// their content in an [Arena], their clients in a [ClientTable], and the history of each client in a [ClockIndex]. It
// splits and merges their content, and compacts items and content. Package edit splits, merges and orders items;
// package ytypes has their parents.
//
// It has no locks; the owner of a [Set] guards it.
package structs
