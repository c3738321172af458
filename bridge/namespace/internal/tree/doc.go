// Package tree has the names of a workspace: its roots, their contents, and the pending proposals, which the tree shows
// as if they were accepted. Restrict and WithRules return parts of a Tree: only some roots, or only the nodes that the
// Rules let agents reach.
//
// A Tree is the tree of the sources with an overlay. A proposal may show a Node at another place than the source. The
// Node then has its source place in sourceLoc, and the folder there lists the Node in movedOut. So the same nodes
// resolve paths of the source and paths of the workspace.
//
// The tree exists only in memory. One lock guards all of it. Exported functions and methods take the lock if they need
// it. Unexported functions and methods require that the caller holds the lock. An operation of several steps needs
// another lock that keeps others from changing the same root (package namespace).
package tree
