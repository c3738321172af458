// Package ytypes represents a document as a tree of types. A [Branch] has a list of children and keyed children. A
// child is a struct and may be a branch itself. The package finds, reads, joins and drops children; package edit
// decides which children change.
//
// It has no locks; the owner of a [Store] guards it. Only [Branch.Committed] may be read without a lock.
package ytypes
