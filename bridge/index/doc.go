// Package index indexes all notes of a tree: their links ([LinkIndex]), their properties and structure ([NoteInfo]),
// and their pending suggestions and threads. [Indexes] holds the three indexes. Its answers contain only the documents
// that its tree of names shows ([Indexes.Restrict]), except for [Indexes.LinkIndex]. A [Follower] keeps one index
// current: the first query reads every note, and later queries read the notes that the event log names. If the log has
// dropped events, all notes are read again. A Follower lets one query at a time read notes, and holds no other lock
// while it reads. A note that cannot be read is omitted and retried by the next query.
//
// Package links implements Obsidian's link rules, package outline the structure of a note, and package semantic the
// search by words and meaning.
package index
