// Package attribution determines who wrote what in a note. It is pure: it reads the records of a document and the CRDT
// IDs (identities) of a text's characters. It never compares texts, and plans no changes; package planner does that.
//
// A [Table] is the fold of a document's records. For each range of identities it has the author of the characters, the
// suggestions that add or delete them, and the decisions on these suggestions. [Units] map each position of one text to
// an identity. A [Layout] combines a text with its Units and the Table: it has the marks, their authors, and the text
// inside and between the marks. Text that a user types inside an agent's mark is plain text of the user. Adjacent marks
// of two authors are two suggestions.
package attribution
