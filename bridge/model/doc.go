// Package model defines the vocabulary of the workspace: paths, authors, records, decisions, versions, events, errors,
// and the interfaces that sources and stores implement ([Source], [Store]). It has data and functions of that data, and
// does no I/O. Only three types have locks: [Problems], the current failures; [Bus], the events and the operations in
// progress; [Sequence], the numbers of decisions and proposals.
//
// A [Record] is one change of a document and names characters by their CRDT IDs ([IDRange]); a [History] is all records
// of a document. A [Version] is one published state of a note. Its text never changes; the note's write lock guards its
// CRDT IDs. A [Decision] records what a user decided about suggestions or a proposal, and a [ProposalRecord] is a
// pending change that marks in a text cannot express.
package model
