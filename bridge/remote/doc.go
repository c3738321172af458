// Package remote serves the shared folders of a server. It is a client of y-sweet, relay-server, y-websocket and
// Hocuspocus, and a model.Source.
//
// A Source serves one shared folder: a folder document (package folderdoc) and a document for each note and each
// canvas (package canvasdoc). In the packages below, "note" includes canvases. To readers a canvas is a file, which is
// listed once it has content. OpenFile opens it only for reading; Replace and Merge change it. A Source combines the
// packages below and has no state of its own.
//
// # Durability
//
// The Store has everything that this Source has received and written. Changes by peers are applied at once and stored a
// moment later. Local changes are stored durably before a write returns, and sent afterwards. The store also records
// what the server has not acknowledged. Connections may end at any time. Each new one starts with a comparison of
// state vectors, which finds what either side lacks.
//
// Everything is safe for concurrent use. Lock order: listing.Listing.Move, the folder document, the drafts' document,
// another document, the listing, the scheduler, leaves. No lock is held during network I/O; a document's lock is held
// during store I/O.
//
// # Status
//
// By the law of model.Problems, the status has a problem if and only if the last attempt failed: to connect, to
// synchronize a document, to fetch an attachment, or to store (the store's problem). An operation that nobody wants any
// longer has no problem. If a synchronization fails while the folder is not connected, its document gets no problem.
//
// The client queries a server at least every 20 s (replica.DefaultResync), and after each write. If no answer
// comes within a quarter of that time, the status says since when. After all of that time the connection ends. The status is
// "acknowledged" only if everything that was written here is stored here and acknowledged by the server.
//
// Errors about the server wrap those of package transport; transport.Hint returns the next step. For a note that was
// never fetched the error is model.ErrNotFetched. A note that was fetched, but never written to, is empty.
package remote
