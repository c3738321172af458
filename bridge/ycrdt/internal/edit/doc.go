// Package edit changes a document in transactions: it places new items among the
// children of a type, deletes items, and merges at the end what belongs together,
// all as Yjs does, so that the same history gives the same bytes. It knows items
// and places, not positions, values or updates.
//
// It has no locks; who holds the store protects its [Txn], too.
package edit
