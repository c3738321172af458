// Package edit changes a document in transactions: it places new items among the children of a type, deletes items, and
// merges at the end what belongs together, all as Yjs does, so that the same history gives the same bytes. On that it edits
// lists by visible position, and text by the unit: what is deleted and inserted where, so that no surrogate pair is cut, and
// what becomes of formats. It handles neither values nor updates.
//
// It has no locks; who holds the store protects its [Txn], too.
package edit
