// Package listing is the contents of a folder: the server's folder document together with
// the drafts, notes that the server does not have yet (drafts.go), and the bytes of
// attachments (attachments.go, blobs.go).
//
//	l := listing.New(ctx, set, attachments, notes)
//	err := l.List(false)
//	e, err := l.Find("open", "Projects/Plan.md")
//	err = l.Rename("Projects", "Archive/Projects", false)
//
// A Listing changes names, and reports changes of peers. It knows neither contents nor when
// a draft becomes an entry, and opens no connection.
//
// # Concurrency
//
// Everything is safe for concurrent use. Locks, in the order in which they may be taken:
// that of Move, the folder document's, the drafts', the listing's, and that of missing
// attachments, which is a leaf. A function with a *folderdoc.Folder as argument is called
// with that document's lock.
package listing
