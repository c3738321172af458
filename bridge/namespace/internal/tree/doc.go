// Package tree has the names of a workspace: its roots, their contents, and the pending proposals
// that the tree shows as done.
//
// It is the tree of the sources with an overlay. A Node that is shown away from its place in the
// source has that place as its sourceLoc, and the folder of that place has the Node in movedOut. So every
// Node has two places, and the same nodes resolve paths of the source and paths of the workspace.
//
// The tree is memory only. One lock guards all of it: each exported function and method takes the
// lock and releases it before it returns, and the others run under it. An operation of several
// steps needs another lock that keeps others from changing the same root (package namespace).
package tree
