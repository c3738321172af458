// Package yserve lets Yjs clients at a workspace: it speaks the HTTP and
// websocket API of y-sweet and relay-server, and offers the same documents as
// plain y-websocket rooms.
//
//	s := yserve.New(yserve.Options{Host: h, Keys: token.Ring{key}, Mint: key})
//	srv := &http.Server{Handler: s}
//	...
//	s.Close()
//
// # HTTP
//
//	GET  /ready                 {"ok":true}
//	POST /check_store           server token
//	POST /doc/new               server token or full prefix token; {"docId"} optional
//	POST /doc/ID/auth           server token; answers a client token
//	GET  /d/ID/as-update        the whole document as an update
//	POST /d/ID/update           applies an update
//	GET  /d/ID/ws/ID            websocket; ?token=
//	GET  /d/ID/versions         always empty: there is one version
//	POST /f/ID/upload-url       {"uploadUrl"}; a file token, or ?hash= with another
//	PUT  /f/ID/upload           the bytes of an attachment; POST takes a form
//	GET  /f/ID/download-url     {"downloadUrl"}
//	GET  /f/ID/download         the bytes, by hash
//	HEAD /f/ID                  200 if they are there
//	GET  /f/ID/history          what was uploaded; DELETE /f/ID[/HASH] forgets it
//	GET  /Folder/Name.md        websocket of y-websocket; also /ID, and /Folder for
//	                            the folder document
//	GET  /                      websocket of Hocuspocus, for any number of documents
//
// The paths that older clients use, /doc/ID/as-update, /doc/ID/update and
// /doc/ws/ID, mean the same. Tokens come as "Authorization: Bearer" or ?token=.
//
// # Websocket
//
// The server speaks first: its state vector, and who is there. From then on, in
// both directions, sync and awareness frames (package ysync), and those of
// relay-server: a client of a folder document may subscribe to the changes of
// every note in it and ask for their snapshots. An Echo comes back when the
// frames before it were applied and are durable.
//
// In Hocuspocus's framing the name of a document stands in front of each frame,
// and its token comes in a frame. What was applied and is durable is acknowledged
// with a sync status.
//
// A connection ends with a code that tells why: 1001 the server goes away, 1007
// a frame is malformed, 1008 the token has expired, 1009 a frame or note is too
// large, 1011 the document could not be kept, 1012 the document was closed (open
// it again), 1013 the client does not read fast enough. A client that may only
// read gets a permission-denied frame when it writes.
//
// # Who is let in
//
// With keys, whoever has a token. Without, every program on this machine, but no
// web page from elsewhere: the Host and Origin of a request must be loopback.
//
// # Packages
//
//	room     the clients of a document, and what their frames ask for
//	access   who is let in, and what a token permits
//	socket   one websocket: reading, writing, trying it out
//	host     the documents
//
// # Concurrency
//
// Each connection has a goroutine that reads and one that writes, with a bounded
// backlog between the documents and the writer. Frames of one connection are
// handled one after the other; while a client does not read the answers to what
// it asked for, nothing more of it is read. The Server's one lock counts connections and
// is a leaf.
package yserve
