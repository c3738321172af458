// Package textmerge merges texts that several people and programs write at once. It is
// pure: it knows texts, edit scripts and the CRDT identities of characters, and no file,
// note or lock.
//
// A writer computes its text from a state that it was shown. By the time it writes, the
// note may have moved on. [Merge] carries what the writer changed over to the state of
// now: it finds the characters that the writer kept or dropped by their identities, or by
// a comparison of the texts where no identities are known. So text that a person typed
// meanwhile stays, whether inside, beside or far from the change.
//
// Go counts bytes ("off"); Yjs counts UTF-16 units ("pos"). [Cursor] is the one place
// that converts.
package textmerge
