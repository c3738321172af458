// Package attribution determines who wrote what. It is pure: it reads the records of a document and the identities of
// a text's characters, and compares no texts.
//
// A [Table] is the fold of a document's records. For each range of identities it has the author of the characters,
// the suggestions that add or delete them, and the decisions. [Units] are the identities of one text by place. A
// [Layout] combines a text with both: its marks and their authors, and the text in and between them. So text that a
// user types inside an agent's mark is the user's and plain, and adjacent marks of two authors are two suggestions.
package attribution
