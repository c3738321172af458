// Package transport connects to the documents of a server: y-sweet, relay-server, y-websocket or Hocuspocus.
//
// A Server opens links; a Link carries the frames of one document. The package handles tokens, frames and their
// limits. It ignores the contents of documents, stores nothing and does not retry.
//
// # Tokens
//
// A token is only sent to the host of the address, and only with TLS if the address has TLS, whatever the server
// requests. Errors never quote it. Warnings returns the disadvantages that the token has for the server's other
// clients.
//
// Errors about the server wrap ErrUnreachable, ErrDenied, ErrNoFolder, ErrProtocol or a more specific error; Hint
// returns the next step.
//
// Everything is safe for concurrent use. The locks guard tokens, sockets and queues; no other lock is taken while one
// of them is held. No lock is held during network I/O, except that Hocuspocus holds its lock while it opens its socket.
package transport
