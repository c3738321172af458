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
// for each note and each canvas (package canvasdoc). What is said of notes below this package
// is true of canvases, but for what people see: a canvas is a file, read-only on a mount, which is listed
// when it has content. A Source combines the packages below, and has no state itself.
//
// # Durability
//
// The Store has everything that was received and written here. Changes of peers are applied
// at once and stored a moment later; local changes are stored, durably, before a write
// returns, and sent after that. The store also knows what the server has not acknowledged.
// Connections may end at any time: each new one begins by comparing state vectors, which
// finds whatever either side lacks.
//
// # Concurrency
//
// Everything is safe for concurrent use. Locks, in the order in which they may be taken:
// that of listing.Listing.Move, the folder document's, the drafts' document's, another
// document's, the listing's, the scheduler's, and leaves. No lock is held
// across the network; a document's is held across the store's disk.
//
// # Status
//
// The status says what is known. By the law of model.Problems it names a problem if and only
// if the last attempt has failed: to be connected, to compare a document in its turn, to fetch
// an attachment, to store (the store's problem). What is not wanted any more has none. A turn
// that fails while the folder is not connected says nothing of its document.
//
// A server is asked at least each 20 s (replica.DefaultResync), and whenever something was
// written. If nothing has come after a quarter of that, the status says since when; after all
// of it the connection has ended. "Acknowledged" is said only when everything that was written
// here is stored here and the server has acknowledged it.
//
// # Errors
//
// Errors about the server wrap those of package transport; transport.Hint returns the next
// step. For a note that was never fetched the error is model.ErrNotFetched. A note that was
// fetched, and to which nobody has written, is empty.
package remote
