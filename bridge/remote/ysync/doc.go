// Package ysync encodes and decodes the frames by which Yjs peers synchronise documents and presence: those of the sync
// and awareness protocols of y-protocols, as y-websocket (and its successors, such as y-sweet) and Hocuspocus send
// them. The caller handles connections.
//
// A frame is one binary WebSocket message of a type. Hocuspocus prefixes the name of a document, because one connection
// serves many. Hocuspocus and relay-server have further types; with the types of relay-server a client follows all
// documents of a folder over one connection. y-sweet's Echo confirms that the server has applied the client's frames.
//
// A sync frame is a step 1 (the sender's state vector), a step 2 (the update that the other side lacks) or an update (a
// recent change). Each side sends a step 1 when the connection opens, and answers the other side's step 1 with a step
// 2. A side is synchronized when it has received the first step 2.
//
// Awareness is data that peers publish about themselves, such as a name and a cursor: one JSON value per client,
// which is not stored and disappears with the client.
//
// Every decoder checks the whole frame before it returns, and allocates no more than a small multiple of the input's
// length. Its errors wrap [ErrMalformed], or [ErrUnknownType] for a frame that peers should ignore.
package ysync
