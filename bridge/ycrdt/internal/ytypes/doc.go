// Package ytypes holds a document as a tree of types: a [Branch] has a list of children and keyed ones, which are structs,
// and a child may be a branch itself. It finds, reads, joins and forgets children. What a change is, and when something has
// to be done, is not its subject.
//
// It has no locks; who holds a [Store] protects it. [Branch.Committed] alone may be read without that.
package ytypes
