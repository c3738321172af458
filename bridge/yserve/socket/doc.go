// Package socket is the websocket of one client: it reads frames, writes those that are
// queued, and tries the connection out. It does not know what a frame says.
//
// A client that does not read, answer or go on sending fast enough is cut off with a code
// that tells why. Frames are never dropped silently.
//
// # Concurrency
//
// Each Socket has a goroutine that reads and one that writes, with a bounded backlog in
// front of the writer. Everything may be called from several goroutines, but Reply, which
// only the handler of frames may call. The locks of the Socket and of its backlog are
// leaves.
package socket
