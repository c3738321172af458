// Package attribution determines who wrote what in a note. It is pure: it reads the records of a document and the CRDT
// IDs (identities) of a text's characters, and never compares texts. Package planner plans changes. The only edits that
// this package computes rewrite marks and keep all other text: [Table.CanonicalEdits] moves users' text out of agents'
// marks, and [Table.Corrected] rewrites marks that two mounts have tangled.
//
// A [Table] is the result of all records of a document, applied in the order of the log. For each range of identities
// it has a [Fact]: the author of the characters, the suggestions that add or delete them, and the decisions on these
// suggestions. [Units] map each position of one text to an identity. A [Layout] combines a text with its Units and the
// Table: it has the marks, their authors, and the text inside and between the marks. It lists the suggestions
// ([Layout.List]) and the threads of comments ([Layout.Threads]), and gives the lens the owner of each mark
// ([Layout.OwnersFor]). Text that a user types inside an agent's mark is plain text of the user. Adjacent marks of two
// authors are two suggestions.
package attribution
