// Package tree has the names of a workspace: its Folders, what is in them, and the pending
// proposals that the tree shows as done.
//
// It is the tree of the sources with an overlay. A Node that is shown elsewhere than where
// its source has it knows its home, and the folder that is its home knows that it is away.
// So every Node has two places, and paths of the source and paths of the workspace are
// found from the same nodes.
//
// The tree is memory only. One lock protects all of it: each exported function and method
// takes the lock and releases it before it returns, and the others run under it. Who needs
// several steps of one operation to stand still keeps others from changing the same Folder
// meanwhile (package namespace).
package tree
