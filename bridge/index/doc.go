// Package index keeps what is computed from the text of every note: the links
// ([LinkIndex]), what notes hold ([NoteIndex]) and the suggestions that wait
// ([SuggestionIndex]).
//
// [Indexes] are the three of a tree of notes; each is built when it is first asked for. A
// [Follower] keeps one of them current. The first question reads every note; from then
// on events mark the notes that changed, and the next question reads those. Each type has
// a private lock, and none is held while a note is read.
//
// Below it, links has Obsidian's rules of links, outline tells what a note holds, and semantic, which
// is above package bridge, finds notes by words and by meaning.
package index
