// Package replica keeps this machine's copies of a folder's documents in memory and in the store. Each document is
// synchronised over its own link.
//
// Package remote documents when changes are stored.
//
//	Change ──► Doc ──► Store ──► outbox ──► Peer ──► Link ──► server
//	            ▲                             │
//	            └────────── Receive ◄─────────┘
//
// A Format converts documents of one type (notes, canvases) to files and back.
//
// The Callbacks of a Set knows the folder's listing and decides which documents are connected.
//
// # Acknowledgement
//
// y-sweet echoes frames in order, y-websocket answers a sync step 1 in order, and Hocuspocus answers each change. The
// answer to any later frame acknowledges a change. An echo costs the server least. If a server does not return the
// first echo, which the peer sends before step 1, the peer asks with sync step 1 instead.
//
// Everything is safe for concurrent use. A document's lock is held during store I/O and calls of the Callbacks, except
// Acknowledged, and never during network I/O. Lock order: the folder's document, the drafts' document, other documents.
// The locks of Set, WriteAccess and presence are leaves. Whoever holds the lock of the list of resident documents only tries
// the lock of a document, and never waits for it.
package replica
