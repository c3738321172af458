// Package transport connects to the documents of a server: y-sweet, relay-server, y-websocket or Hocuspocus.
//
// New returns the Server at an Address. A Server opens a Link to a document by its name; a Link carries the frames of
// that document. Some Servers implement further interfaces: Files transfers the bytes of attachments; Creator creates
// documents that must exist before they are opened; Examiner opens a document without creating it. The package handles
// tokens, frames and their limits. It ignores the contents of documents, stores nothing and does not retry.
//
// # Tokens
//
// The token of an Address, and a token minted with a key, are sent only to the host of the Address. A token that the
// server issues is sent to the host that the server names; if the Address has TLS, a host other than the host of the
// Address is an error. A token of a control plane (Tokens) is sent to the server that the control plane names. If the
// Address has TLS, every request uses TLS. Errors never quote a token. Server.Warnings returns the disadvantages that
// the token has for the server's other clients.
//
// Errors about the server wrap one of the errors in errors.go, such as ErrUnreachable, ErrDenied and ErrProtocol; Hint
// returns the next step.
//
// Everything is safe for concurrent use. The locks guard tokens, sockets and queues. The lock of Hocuspocus, whose
// documents share a socket, comes before the lock of the socket's queue; no other two locks are held together. No lock
// is held during network I/O, except that Hocuspocus holds its lock while it opens its socket.
package transport
