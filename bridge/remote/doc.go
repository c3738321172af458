// Package remote serves the shared folders of a server. It is a client of y-sweet, relay-server, y-websocket and
// Hocuspocus, and a model.Source.
//
// A Source serves one shared folder: a folder document (package folderdoc) and a document for each note and each canvas
// (package canvasdoc). In the packages below internal, "note" includes canvases. Programs see a canvas as a file, which
// is listed once it has content. OpenFile opens a canvas only for reading; Replace and Merge change it. All other files
// are attachments: the folder document lists them, the server stores their bytes, and Options.Attachments has copies.
// Create and Replace upload an attachment, and fail without a connection. A Source has no state of its own. It combines
// the packages below internal: listing has the names and attachments, replica the documents, and schedule decides which
// documents are connected. Probe checks a folder without a Source.
//
// # Durability
//
// The Store gets all changes of documents that this Source receives or makes. Changes by peers are applied immediately
// and stored a moment later; changes that a crash loses are fetched again. Local changes are stored durably before a
// write returns, and sent afterwards. The store also records the changes that the server has not acknowledged.
// Connections may end at any time. Each new connection starts with a comparison of state vectors, which finds the
// changes that either side lacks.
//
// Everything is safe for concurrent use. Lock order: listing.Listing.Move, the folder document, the drafts' document,
// another document, the listing, the scheduler, and last any other lock. No lock is held during network I/O, with one
// exception in package transport. A document's lock is held during store I/O.
//
// # Status
//
// As model.Problems requires, the status has a problem if the last attempt failed to connect, to synchronize a
// document, to fetch an attachment, to read a report of the server, or to store (the store's problem). An operation
// that is not needed any more has no problem. If a synchronization fails while the folder is not connected, its
// document gets no problem.
//
// The client queries a server at least every 20 s (replica.DefaultResync), and after each write. If no answer comes
// within a quarter of that time, the status shows since when the server has been silent. After the full time the client
// closes the connection. The status is "acknowledged" only if everything that was written here is stored here and
// acknowledged by the server.
//
// Errors about the server wrap those of package transport; transport.Hint returns the next step. For a note that was
// never fetched the error is model.ErrNotFetched. A note that was fetched, but never written to, is empty.
package remote
