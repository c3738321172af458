// Package listing is what a folder holds: what the server's folder document says, together
// with the drafts, the notes that the server does not have yet.
//
//	l := listing.New(ctx, options)
//	err := l.List(false)
//	e, err := l.Find("open", "Projects/Plan.md")
//	err = l.Rename("Projects", "Archive/Projects", false)
//
// It changes names, and reports what peers do to them. It does not know contents, nor when
// a draft becomes an entry, and opens no connection.
//
// # Concurrency
//
// Everything may be called from several goroutines. Locks, in the order in which they may
// be taken: that of Move, the folder document's, the drafts', the listing's, and those of
// what peers did and of missing attachments, which are leaves. Options.Notes is called
// under the listing's lock.
package listing
