// Package room brings the clients of a document together: what one of them writes is
// applied, kept and passed on to the others, and so is what they say about themselves.
//
//	r, err := rooms.Join(ctx, id, true)
//	c := room.NewClient(socket, r, shown)
//	c.Greet()
//	socket.Serve(c.Take)
//	c.Depart()
//
// It knows frames and what they ask for. It does not know requests, nor how a connection
// was made.
//
// # Concurrency
//
// Rooms may be used from several goroutines; the frames of one connection are handled one
// after the other. Locks are taken in the order Rooms, Room, Client; documents are changed
// under none of them.
package room
