// Package ytypes represents a document as a tree of Yjs's types: texts, arrays, maps and XML. A [Store] has the structs
// of the document and the branches. A [Branch] has a list of children, and keyed children ([Entry]). A child is a
// struct and may be a branch itself. The package reads children, finds them by position ([Store.Locate], [Index]),
// merges neighbours and drops children; package edit decides which children change.
//
// It has no locks; the owner of a [Store] guards it. Only [Branch.Committed] may be read without a lock.
package ytypes
