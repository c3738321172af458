// Package index answers questions about all notes: their links ([LinkIndex]), their
// properties and structure ([NoteIndex]), and their pending suggestions and threads
// ([SuggestionIndex]).
//
// [Indexes] are the three of a tree of notes. A [Follower] keeps one of them current: the
// first question reads every note; later ones read the notes that the event log names as
// changed. Each type has a private lock, and none is held while a note is read. A note that
// cannot be read is left out and tried again with the next question.
//
// Below it, package links has Obsidian's rules of links, outline the structure of a note,
// and semantic the search by words and meaning.
package index
