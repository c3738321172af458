// Package textmerge merges concurrent writes of several users and programs. It handles texts, edit scripts and the CRDT
// identities of characters, but no files. Only [ApplyEdits] and [ApplyEdit] change anything: they change the text of a
// document.
//
// A writer computes its text from a state that it has read. The note may have changed before the writer writes. [Merge]
// applies the writer's changes to the current state. It finds the characters that the writer kept or dropped by their
// identities or, if the identities are not known, by a comparison of the texts. So text that a user typed in the
// meantime stays, whether it is inside, next to or far from the change. [Nearest] chooses the state that a writer most
// likely read.
//
// [DiffExternal] turns a text that did not come through relayfs, such as a user's save, into edits, moves and broken
// delimiters.
//
// Go counts bytes ("off"); Yjs counts UTF-16 units ("pos"). [Cursor] converts between them.
package textmerge
