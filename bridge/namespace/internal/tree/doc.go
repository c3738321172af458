// Package tree has the names of a workspace: its roots, their contents, and the pending proposals
// that the tree shows as done. Within and WithRules return parts of a Tree: some roots only, or what
// the Rules let agents reach.
//
// It is the tree of the sources with an overlay. A proposal may show a Node away from its place in
// the source. That place is then its home, and the folder there lists the Node in away. So the same
// nodes resolve paths of the source and paths of the workspace.
//
// The tree is memory only. One lock guards all of it: each exported function and method takes the
// lock and releases it before it returns, and the others run under it. An operation of several
// steps needs another lock that keeps others from changing the same root (package namespace).
package tree
