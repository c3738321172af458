// Package access says who is let in, and what a client may do: from the token that it
// shows, or, without keys, from where it is. It answers no request and knows no document
// but by its id.
//
// # Concurrency
//
// Everything may be called from several goroutines. There is no lock: the keys are put in
// place as a whole.
package access
