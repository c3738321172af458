// Package namespace changes what is where: it creates, renames, exchanges and removes notes,
// files and folders, for programs and for people, and takes over what a source reports.
//
// What programs do to names is proposed, or done at once where the structure policy says so,
// or where it is about what is its author's own so far: what a session of an author has just
// made, and nobody else has used, it may rename and take away without asking. What people
// do is done at once, with the paths that they have, whatever is proposed for them.
//
// # Proposals
//
// A Folder makes, carries out and takes back proposals: renames, deletions and whole files
// that wait for a person.
//
// The Tree shows proposals as done (internal/tree); the Store keeps them. What people do
// meanwhile wins: a proposal whose place is taken, or whose subject is gone, is dropped, and
// the journal tells of it. An acceptance is noted in the Store before the source is changed
// and journalled after, so that the next process finds out what a crash left.
//
// A Folder's lock admits one change of its names at a time: the people's, and those that are
// proposed or decided on. It is held across disk. Lock returns the Locked, which has all that
// happens under it and publishes its events when it is released. So it also brings
// a Folder up to its source: at the start, after a crash, and whenever the source reports
// something.
package namespace
