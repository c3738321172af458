// Package remote serves the shared folders of a server: it is a client of
// y-sweet, relay-server, y-websocket and Hocuspocus, and a bridge.Source.
//
//	address, err := remote.ParseAddress("yss://notes.example.org")
//	address.Token = os.Getenv("RELAYFS_TOKEN")
//	source, err := remote.Open(remote.Options{Address: address, Folder: id, Store: store})
//	defer source.Close()
//	workspace, err := bridge.New(bridge.Options{Folders: []bridge.FolderSource{{Name: "Team", Source: source, Store: store}}})
//
// # Nouns
//
// A Source serves one shared folder: a folder document (package folderdoc) and a
// document for each note. A transport reaches a server's documents; a link
// carries the frames of one document; a peer keeps a document in step over a
// link. A draft is a new note that the server does not have yet, or one whose name
// another note got (clash.go).
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
//	local write ──► Doc ──► Store ──► outbox ──► peer ──► link ──► server
//	                 ▲                             │
//	                 └────────── receive ◄─────────┘ ──► event ──► workspace
//
// # Which documents are connected
//
// The folder's always. Notes take turns, sixteen at a time: those that a reader
// waits for first, then those with changes to send, those that have changed at
// the server, those never fetched, and the rest to be compared. A note stays
// connected after its turn if there is room.
//
// # Acknowledgement
//
// y-sweet echoes what it is sent in order, y-websocket answers a step 1 in order,
// Hocuspocus answers each change. A change is acknowledged when the answer to
// something sent after it has come.
//
// # Concurrency
//
// Everything may be called from several goroutines. Locks, in the order in which
// they may be taken: the folder document's mu, the drafts' mu, another
// document's mu, Source.mu, syncer.mu, jobs.mu, and leaves. No lock is held
// across the network; a document's mu is held across the store's disk.
//
// # Errors
//
// Errors about the server wrap ErrUnreachable, ErrDenied, ErrNoFolder or
// ErrProtocol; Hint knows the next step. A note that was never fetched is
// bridge.ErrNotFetched.
package remote
