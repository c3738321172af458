// Package ysync implements the protocols by which Yjs peers synchronise documents and presence: the sync and
// awareness protocols of y-protocols, in the frames of y-websocket (and of its successors, such as y-sweet) and in
// those of Hocuspocus. It encodes and decodes bytes; the caller handles connections.
//
// # The nouns
//
// A frame is one binary WebSocket message. It has a type: Sync, Awareness, Auth or QueryAwareness. Hocuspocus
// prefixes the name of a document, because one connection serves many, and has more types. relay-server has more
// types as well, which let a client follow all documents of a folder over one connection. y-sweet has an Echo, which
// confirms that the server has applied the client's frames.
//
// A sync frame is a step 1 (the sender's state vector), a step 2 (the update that the other side lacks) or an update
// (a recent change). Each side sends a step 1 when the connection opens, and answers the other's with a step 2. It is
// synchronized when the first step 2 has arrived.
//
// Awareness is data that peers publish about themselves, such as a name and a cursor: one JSON value per client,
// which is not stored and disappears with the client. See [Awareness].
//
// # Hostile input
//
// Every decoder checks its whole input before it returns, allocates no more than a small multiple of its length, and
// reports errors that wrap [ErrMalformed], or [ErrUnknownType] for a frame that peers should ignore.
package ysync
