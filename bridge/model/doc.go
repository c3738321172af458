// Package model defines the vocabulary of the workspace: paths, authors, records, decisions, versions, events, errors,
// and the interfaces that sources and stores implement ([Source], [Store]). It has data and functions of that data, and
// does no I/O. Only [Problems], the list of current failures, and [Bus], the log of events, have locks.
//
// A [Record] is one change of a document and names characters by their CRDT IDs ([IDRange]); a [History] is all records
// of a document. A [Version] is one published, immutable state of a note. A [Decision] records what a user decided
// about suggestions, and a [ProposalRecord] a pending change that marks in a text cannot express.
package model
