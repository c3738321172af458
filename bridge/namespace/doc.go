// Package namespace creates, renames, exchanges and removes notes, files and folders, for programs and for users, and
// applies the changes that a source reports.
//
// Changes of names by programs become proposals. The exceptions are applied immediately: all changes if the structure
// policy is direct, and changes of the author's own nodes, which the author's session has just made and no one else has
// used. Changes by users are applied immediately, at the paths of the source, even if a proposal concerns the same
// nodes.
//
// # Proposals
//
// A Root makes, applies and undoes proposals: pending renames, deletions and contents of whole files.
//
// The Tree shows the nodes as if the proposals were accepted (internal/tree), and the Store keeps the proposals.
// Changes by users in the meantime take precedence: a proposal whose place is taken, or whose node no longer exists, is
// dropped, and the journal records that. The Store records the start of an acceptance before the source is changed, and
// the journal records its outcome afterwards. So after a crash the next process can determine whether the source was
// changed.
//
// A Root's lock admits one change of its names at a time, by users or by proposals and decisions. It is held across
// disk access. Lock returns a Locked, which has all operations under the lock and publishes their events when it is
// released. Other operations bring a root up to date with its source: at the start, after a crash, and whenever the
// source reports a change.
package namespace
