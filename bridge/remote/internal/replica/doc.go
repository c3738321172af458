// Package replica has this machine's copies of a folder's documents: in memory, in the
// store, and in step with the server, each over its own link.
//
//	set := replica.NewSet(options, owner)
//	d := set.Document(id)
//	err := d.Change(ctx, &record, func(doc *ycrdt.Doc) error { ... })
//	err = replica.NewPeer(d, func(ysync.Frame) {}).Run(ctx)
//
// The documentation of package remote says what is stored when.
//
//	Change ──► Doc ──► Store ──► outbox ──► Peer ──► Link ──► server
//	            ▲                             │
//	            └────────── Receive ◄─────────┘
//
// A Format is how documents of one type are files: notes, and canvases.
//
// Its Owner knows the listing of the folder, and which document is connected when.
//
// # Acknowledgement
//
// y-sweet echoes frames in order, y-websocket answers a step 1 in order, Hocuspocus answers
// each change. A change is acknowledged by the answer to any later frame. An echo costs the
// server least; one that has not answered the first, sent ahead of step 1, is asked by steps 1.
//
// # Concurrency
//
// Everything is safe for concurrent use. A document's lock is held across the store's disk
// and calls of the Owner, never across the network; the folder's comes before that of the
// drafts, which comes before others'. The locks of the Set, of Access and of the presence
// are leaves; that of the documents in memory only tries a document's.
package replica
