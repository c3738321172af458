// Package transport reaches the documents of a server over the network: y-sweet and
// relay-server, y-websocket, Hocuspocus.
//
//	address, err := transport.ParseAddress("yss://notes.example.org")
//	server := transport.New(address, folder, nil, 16)
//	link, err := server.Open(ctx, name)
//	link.Send(ysync.AppendStep1(nil, doc.EncodeStateVector()))
//
// A Server opens links and fetches whole documents; a Link carries the frames of one
// document. The package knows tokens, frames and their limits. It does not know what is
// in a document, keeps nothing, and does not try again.
//
// # Errors
//
// Errors about the server wrap ErrUnreachable, ErrDenied, ErrNoFolder, ErrProtocol or
// one that tells more; Hint knows the next step.
//
// # Concurrency
//
// Everything may be called from several goroutines. The locks protect tokens, sockets
// and queues, and are leaves: no lock is held across the network, but that of Hocuspocus
// while its one socket is opened.
package transport
