// Package noteindex keeps what is computed from the text of every note: the links
// ([LinkIndex]), what notes hold ([NoteIndex]) and the suggestions that wait
// ([SuggestionIndex]).
//
// A [Follower] keeps one of them current. The first question reads every note; from then
// on events mark the notes that changed, and the next question reads those. Each type has
// a private lock, and none is held while a note is read.
package noteindex
