// Package yserve serves Yjs clients of a workspace: it implements the HTTP and
// websocket API of y-sweet and relay-server, and serves the same documents as
// y-websocket rooms and to Hocuspocus.
//
//	s := yserve.New(yserve.Options{Host: h, Keys: token.Ring{key}, Mint: key})
//	srv := &http.Server{Handler: s}
//	...
//	s.Close()
//
// # HTTP
//
//	GET  /ready, /readyz        {"ok":true}; 503 while changes cannot be stored
//	GET  /healthz               {"ok":true}
//	POST /check_store           server token; {"ok":false,"error":"..."} says why
//	POST /doc/new               server token or full prefix token; {"docId"} optional
//	POST /doc/ID/auth           server token; answers a client token
//	GET  /d/ID/as-update        the whole document as an update
//	POST /d/ID/update           applies an update
//	GET  /d/ID/ws/ID            websocket; ?token=
//	GET  /d/ID/versions         always empty: there is one version
//	POST /f/ID/upload-url       {"uploadUrl"}; a file token, or ?hash= with another
//	PUT  /f/ID/upload           the bytes of an attachment; POST with a form
//	GET  /f/ID/download-url     {"downloadUrl"}
//	GET  /f/ID/download         the bytes, by hash
//	HEAD /f/ID                  200 if they exist
//	GET  /f/ID/history          the uploads; DELETE /f/ID[/HASH] deletes them
//	GET  /Folder/Name.md        websocket of y-websocket; also /ID, and /Folder for
//	                            the folder document
//	GET  /                      websocket of Hocuspocus, for any number of documents
//
// The paths of older clients, /doc/ID/as-update, /doc/ID/update and /doc/ws/ID, mean the
// same. Tokens come as "Authorization: Bearer" or ?token=.
//
// # Websocket
//
// The server sends first: its state vector, and the awareness states. From then on both
// sides send sync and awareness frames (package ysync), and those of relay-server: a client
// of a folder document may subscribe to the changes of every note in it and query their
// snapshots. An Echo comes back when the frames before it are applied and durable.
//
// In Hocuspocus's framing the name of a document precedes each frame, and its token comes in
// a frame. A sync status acknowledges an update that is applied and durable.
//
// A connection ends with a code for the reason: 1001 the server shuts down, 1007 a frame is
// malformed, 1008 the token has expired, 1009 a frame or note is too large, 1011 a change
// could not be stored, 1012 the document was closed (open it again), 1013 the client does
// not read fast enough. A read-only client gets a permission-denied frame when it writes.
//
// # Access
//
// With keys, every client needs a token. Without keys, every program on this machine is let
// in, but no web page from elsewhere: the Host and Origin of a request must be loopback.
//
// # Concurrency
//
// Each connection has a goroutine that reads and one that writes, with a bounded backlog
// between the documents and the writer. Frames of one connection are handled one after the
// other; while a client does not read its answers, nothing more of it is read. The Server's
// one lock counts connections and is a leaf.
package yserve
