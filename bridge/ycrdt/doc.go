// Package ycrdt is a Yjs engine. Yjs documents are shared documents that many writers change concurrently, online or
// offline, and that converge. The package reads and writes exactly the bytes of Yjs 13 (update format V1), needs only
// the standard library, and treats all input as hostile.
//
//	doc := ycrdt.NewDoc(ycrdt.Options{})
//	text := doc.Text("contents")
//	doc.OnUpdate(func(update []byte) { queue(update) })
//
//	doc.Transact(func(tx *ycrdt.Txn) { text.Insert(tx, 0, "hello") })
//	err := doc.ApplyUpdate(received)
//
// # The model
//
// A [Doc] holds named roots. Each root is a [Text], [Map] or [Array], whose elements may be further types. All content
// consists of units: the UTF-16 units of a text, the elements of an array, all values that a key has had. Every unit
// has an [ID] that is never reused: the [ClientID] of its creator and a clock, which counts the units of that client.
//
// An item is a run of units that one client created in one operation. It has its first ID, the IDs of its neighbours at
// that time (its origins), and its content. YATA, the algorithm of Yjs, orders the items of a list; any two documents
// with the same items get the same order. A deletion only marks items. The end of the transaction drops their content;
// their IDs stay as tombstones.
//
// Clocks have no gaps, so a [StateVector], one number per client, identifies the units that a document has seen. The
// state vector and the set of deleted units together describe the state: a [Snapshot].
//
// An update carries items and deletions. The order of updates does not matter, and applying an update twice changes
// nothing. So updates may be stored, merged ([MergeUpdates]) and sent in any way that delivers each of them at least
// once. The document holds back an update that refers to items that have not arrived yet.
//
// [Text.Runs] returns the IDs of the visible units of a text, and [Text.Pieces] also the IDs of deleted units.
// [Text.Find] finds the places of units. [Text.InsertAt] inserts next to a unit, even if the unit is deleted. With these
// a caller can find the characters that a reader saw, and restore text at its former place.
//
// Positions and lengths in a Text count UTF-16 units, as everywhere in Yjs. Insertions and deletions by position never
// cut a surrogate pair: their positions move outwards. The API takes and returns Go strings in UTF-8.
//
// # Concurrency
//
// All methods may be called from any goroutine, except that a [Txn] is limited to the goroutine of its transaction. A
// Doc has one mutex, which [Doc.Transact] and [Doc.ApplyUpdate] hold until their commit. Methods without a [Txn] return
// the state of the last commit and wait for a running transaction, except that [Text.String] and [Text.Len] return a
// cached value immediately if there is one and the Text was used before. Inside a transaction use the methods that take a
// Txn, which see the changes of the transaction; the other methods would deadlock.
//
// The package starts no goroutines.
//
// # Errors
//
// Decoders return errors that wrap [ErrMalformed] and name the byte. [Doc.ApplyUpdate] either applies an update or
// leaves the document unchanged. [Map.Set] and [Array.Push] refuse Go values without a Yjs form with [ErrValue].
// Using a Txn outside its transaction panics.
//
// # Limits
//
// A document holds up to 4 GiB of content. Values nest up to 100 levels deep. Up to 8 MiB of updates can wait for
// missing updates. The package keeps, merges and encodes formats, embedded objects, XML, subdocuments and binary
// content of peers, but has no functions to create them.
//
// The time and memory for applying an update are proportional to its length, to the logarithm of the document's length,
// and to the size of the updates that waited for it. There is one exception: if n clients insert at one place, YATA
// compares them in n² steps of some 100 nanoseconds each. Limit the size of a message before you apply it.
//
// # Layout
//
// Items are in one slab, 52 bytes each, without pointers, and refer to each other by index, so that the garbage
// collector has nothing to scan. Content is in one byte arena: text as UTF-8, values in their wire form. The items of
// each client are listed in clock order in chunks. The index from positions to items is a list of leaves, which the first
// edit far from the start of a list builds. So a document that is only loaded, relayed or encoded costs little more than
// its bytes.
//
// The packages below internal, from the bottom up: lib0 (varints, any values, UTF-16 units), wire (updates as bytes),
// structs (items in memory), ytypes (types and their children, and the index of positions), edit (transactions, and
// editing by position) and exchange (updates into a document and out of it).
//
// The tests verify these invariants after every step (check_test.go): the items of a client follow one another
// without a gap; every item is in exactly one list, whose links agree in both directions; only the last item of a key
// may be visible; after a commit deleted items have no content; the length of a list is the sum of its visible items;
// and all derived indexes agree with the lists.
package ycrdt
