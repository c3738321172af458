// Package listing combines the contents of a folder: the server's folder document, the drafts, which are notes that the
// server does not have yet (drafts.go), and the bytes of attachments (attachments.go, blobs.go).
//
// A Listing changes names, and reports changes by peers. It does not handle the contents of notes, decide when a draft
// becomes an entry, or open connections.
//
// Everything is safe for concurrent use. Lock order: Move, the folder document, the drafts, the listing, and last the
// lock of the missing attachments. A function with a *folderdoc.Folder as argument is called with that document's lock
// held.
package listing
