// Package relaytest is a stand-in for relay-server, for tests of its clients. It is written
// from relay-server's rules, and shares no code with it.
//
//	s := relaytest.New(t, relaytest.Options{Keys: token.Ring{key}, URL: "https://relay.example"})
//	... s.Address() ...
//	for _, load := range s.Loads() { ... }
//
// # Rules
//
//   - A document is loaded by the first request for it, and unloaded by Restart. Whoever has it
//     loaded fixes its channel: the channel of the token of a websocket, else the document's
//     own id. GET as-update, POST update and POST /doc/new load documents without a channel.
//   - Events of a document, and its entry in the index of subdocs, go to its channel.
//   - A CBOR token names the server's URL as its audience, byte for byte.
//   - POST /doc/ID/auth takes a server token, creates nothing, and answers a token without a
//     channel.
//   - A websocket with write access, GET as-update and /doc/new create a document that does
//     not exist; a websocket for reading does not.
//   - Bytes of attachments are given to and taken from file tokens only.
//   - Every answer has the header Relay-Server-Version.
//
// The stand-in keeps everything in memory. It has no versions, webhooks and prefix tokens
// for attachments, never drops a frame, and ends a client that does not keep up.
//
// # Concurrency
//
// Everything is safe for concurrent use. One lock protects all documents.
package relaytest
