// Package replica keeps this machine's copies of a folder's documents in memory and in the store. A [Set] has all
// documents of a folder. A [Document] is one of them, and a [Peer] synchronises it with the server over a link of its
// own.
//
// The documentation of package remote specifies when changes are stored.
//
//	Change ──► Doc ──► Store ──► outbox ──► Peer ──► Link ──► server
//	            ▲                             │
//	            └────────── Receive ◄─────────┘
//
// A Format converts documents of one type (notes, canvases) to files and back.
//
// The [Callbacks] of a Set map documents to their paths, and receive changes and acknowledgements. Package remote
// implements them with the packages listing and schedule. Package schedule decides which documents have a Peer.
//
// # Acknowledgement
//
// Hocuspocus answers each change with a status. The other servers handle frames in order, so their answer to a sync step
// 1 acknowledges the changes that were sent before it.
//
// Everything is safe for concurrent use. A document's lock is held during store I/O and calls of the Callbacks, except
// Acknowledged, and never during network I/O. Lock order: the folder's document, the drafts' document, other documents.
// No other lock is taken while the lock of Set is held; under the lock of cursors only the queue of a
// link is locked. A goroutine that holds the lock of the list of resident documents only tries to lock a document, and
// never waits for it.
package replica
