// Package remote serves the shared folders of a server: it is a client of
// y-sweet, relay-server, y-websocket and Hocuspocus, and a model.Source.
//
//	address, err := transport.ParseAddress("yss://notes.example.org")
//	address.Token = os.Getenv("RELAYFS_TOKEN")
//	source, err := remote.Open(remote.Options{Address: address, Folder: id, Store: store})
//	defer source.Close()
//	workspace, err := bridge.New(bridge.Options{Folders: []bridge.FolderSource{{Name: "Team", Source: source, Store: store}}})
//
// A Source serves one shared folder: a folder document (package folderdoc) and a document
// for each note. It puts together the packages below, and has no state of its own.
//
//	drafts        new notes, until the server has them; notes that lost their names
//	listing       what the folder holds, and what peers do to it
//	schedule      which document is connected when
//	jobs          the queue of documents that wait for a turn
//	unsent        what the server has not acknowledged
//	attachments   bytes by their hashes
//	replica       the documents: in memory, in the store, in step over a link
//	transport     the documents of a server by their names: tokens, sockets, frames
//
// # What is where
//
// The Store has everything that was received and made here. What peers do is
// applied to the document at once and kept a moment later; what is made here is
// kept, durably, before a write returns, and sent after that. The store also
// knows what the server has not acknowledged. Connections may end at any time:
// each new one begins by comparing state vectors, which finds whatever is missing
// on either side.
//
// # Concurrency
//
// Everything may be called from several goroutines. Locks, in the order in which
// they may be taken: that of listing.Listing.Move, the folder document's, the drafts'
// document's, another document's, the listing's, the scheduler's, the queue's, and
// leaves. No lock is held across the network; a document's is held across the store's
// disk.
//
// # Errors
//
// Errors about the server wrap those of package transport; transport.Hint knows the next
// step. A note that was never fetched is model.ErrNotFetched.
package remote
