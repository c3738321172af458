// Package socket is the websocket of one client: it reads frames, writes queued ones, and
// sends pings. It ignores the contents of frames.
//
// A client that reads, answers or sends too slowly is disconnected with a code for the
// reason. Frames are never dropped silently.
//
// # Concurrency
//
// Each Socket has a goroutine that reads and one that writes, with a bounded backlog in
// front of the writer. Everything is safe for concurrent use, except Reply, which only the
// handler of frames may call. The locks of the Socket and of its backlog are leaves.
package socket
