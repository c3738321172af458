// Package namespace creates, renames, exchanges and removes notes, files and folders, and applies the changes that a
// source reports. [Namespace] has these operations for programs, and [DecisionEffects] makes the changes of names that
// follow from a decision. A [Root] carries out all of these operations in one source.
//
// The structure policy determines what happens to a program's changes of names. With [Propose] they become proposals,
// except for changes of the author's own nodes: nodes that the author's session has made and no one else has changed.
// With [Direct] all changes are applied immediately, and with [Deny] all are refused. Users change names in the source
// itself, such as the vault's folder. Their changes appear immediately, at the paths of the source. A node that a
// proposal shows at another path keeps that path.
//
// # Proposals
//
// A Root makes, applies and undoes proposals: pending renames, deletions and contents of whole files.
//
// The Tree shows the nodes as if the proposals were accepted (internal/tree), and the Store keeps the proposals.
// Changes by users in the meantime take precedence: a rename whose new place is taken is blocked, and a proposal whose
// node no longer exists is dropped. The journal records dropped proposals. The Store records the start of an acceptance
// before the source is changed, and the journal records its outcome afterwards. So after a crash the next process can
// determine whether the source was changed.
//
// A Root's lock admits one change of its names at a time, by users or by proposals and decisions. It is held across
// disk access. [Root.Lock] returns a [Locked], whose methods require the lock. [Locked.Unlock] stores the effects of
// the changes on proposals, releases the lock, and publishes the events of the changes. [Root.Start] and
// [Root.SourceChanged] bring a root up to date with its source: at the start (also after a crash) and whenever the
// source reports a change. At the start, documents follow their files, and proposals follow their documents.
package namespace
