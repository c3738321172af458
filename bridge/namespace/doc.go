// Package namespace creates, renames, exchanges and removes notes, files and folders, for programs
// and for users, and applies the changes that a source reports.
//
// Changes of names by programs become proposals. They are done at once if the structure policy says
// so, or if they concern only the author's own nodes: a session may rename and remove what it has
// just made and no one else has used. Changes by users are done at once, with the paths of the
// source, whatever is proposed for them.
//
// # Proposals
//
// A Root makes, applies and undoes proposals: pending renames, deletions and whole files.
//
// The Tree shows proposals as done (internal/tree); the Store keeps them. Changes by users in the meantime win: a
// proposal whose place is taken, or whose subject no longer exists, is dropped, and the journal records that. The Store
// records the start of an acceptance before the source is changed, and the journal its outcome afterwards, so that
// after a crash the next process can determine whether the source was changed.
//
// A Root's lock admits one change of its names at a time, by users or by proposals and decisions.
// It is held across disk access. Lock returns a Locked, which has all operations under the lock and
// publishes their events when it is released. The operations also bring a root up to date with
// its source: at the start, after a crash, and whenever the source reports a change.
package namespace
