// Package index answers questions about all notes: their links ([LinkIndex]), properties and structure ([NoteIndex]), and
// pending suggestions and threads ([SuggestionIndex]).
//
// [Indexes] are the three of a tree of notes. A [Follower] keeps one of them current: the first question reads every note,
// later ones read the notes that the event log names. Each type has a private lock, which is not held while a note is read.
// A note that cannot be read is left out and tried again with the next question.
//
// Package links has Obsidian's rules of links, outline the structure of a note, and semantic the search by words and meaning.
package index
