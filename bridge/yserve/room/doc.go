// Package room connects the clients of a document: it applies and stores the changes of each
// client and sends them, and awareness states, to the others.
//
//	r, err := rooms.Join(ctx, id, true)
//	c := room.NewClient(socket, r, shown)
//	c.Greet()
//	socket.Serve(c.Take)
//	c.Depart()
//
// It handles frames. It does not know requests, nor how a connection was opened.
//
// # Concurrency
//
// Rooms are safe for concurrent use; the frames of one connection are handled one after the
// other. Locks are taken in the order Rooms, Room, Client; none is held while a document
// changes.
package room
