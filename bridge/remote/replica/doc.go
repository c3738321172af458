// Package replica has this machine's copies of a folder's documents: in memory, in the
// store, and in step with the server over a link each.
//
//	set := replica.NewSet(options, owner)
//	d := set.Document(id)
//	err := d.Change(ctx, &record, func(doc *ycrdt.Doc) error { ... })
//	err = replica.NewPeer(d).Run(ctx)
//
// What the server does is applied at once and kept a moment later. What is made here is
// kept, durably, before Change returns, and sent after that. Each connection begins by
// comparing state vectors, which finds whatever is missing on either side.
//
//	Change ──► Doc ──► Store ──► outbox ──► Peer ──► Link ──► server
//	            ▲                             │
//	            └────────── Receive ◄─────────┘
//
// The package does not know what the folder lists, and not which document is connected
// when: its Owner does.
//
// # Acknowledgement
//
// y-sweet echoes what it is sent in order, y-websocket answers a step 1 in order,
// Hocuspocus answers each change. A change is acknowledged when the answer to
// something sent after it has come.
//
// # Concurrency
//
// Everything may be called from several goroutines. A document's lock is held across the
// store's disk and calls of the Owner, never across the network; the folder's comes
// before that of the drafts, which comes before others'. The locks of the Set, of Access
// and of the presence are leaves; that of the documents in memory only tries a
// document's.
package replica
