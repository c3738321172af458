// Package transport connects to the documents of a server: y-sweet and relay-server,
// y-websocket, Hocuspocus.
//
//	address, err := transport.ParseAddress("yss://notes.example.org")
//	server := transport.New(address, folder, nil, 16)
//	link, err := server.Open(ctx, name)
//	link.Send(ysync.AppendStep1(nil, doc.EncodeStateVector()))
//
// A Server opens links; a Link carries the frames of one document. The package handles
// tokens, frames and their limits. It ignores the contents of documents, stores nothing and
// does not retry.
//
// # Tokens
//
// A token goes to the host of the address only, and only with TLS if the address has that,
// whatever the server says. Errors never quote it. What the use of a token costs the
// server's other clients is the result of Costs.
//
// # Errors
//
// Errors about the server wrap ErrUnreachable, ErrDenied, ErrNoFolder, ErrProtocol or a
// more specific one; Hint returns the next step.
//
// # Concurrency
//
// Everything is safe for concurrent use. The locks protect tokens, sockets and queues, and
// are leaves: no lock is held across the network, except that of Hocuspocus while its one
// socket is opened.
package transport
