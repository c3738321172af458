// Package edit changes a document in transactions: it places new items among the children of a type, deletes items, and
// merges items at commit. It does all this as Yjs does, so that the same history gives the same bytes. It also edits
// lists by visible position, and text by unit: it keeps surrogate pairs whole. Formats stay where they are.
//
// It has no locks; the owner of the ytypes.Store also guards its [Txn].
package edit
