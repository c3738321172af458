// Package model is the vocabulary of the workspace: paths, authors, records, decisions,
// versions, events, errors, and the ports that sources and stores fill ([Source],
// [Store]). It holds data and what follows from it alone; it opens no file, and has no
// locks but those of [Problems] and [Activity].
//
// A [Record] is one change of a document and names characters by their identities
// ([IDRun]); a [History] is all records of a document. A [Version] is one published state
// of a note, immutable. A [Decision] is what a person decided on suggestions, and a
// [ProposalRecord] a pending change that marks in a text cannot carry.
package model
