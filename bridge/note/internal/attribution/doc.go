// Package attribution tells who wrote what. It is pure: it reads the records of a
// document and the identities of a text's characters, and compares no texts.
//
// A [Table] has a fact for each range of identities: who wrote the characters, which suggestions
// add or delete them, and what was decided. It is the fold of a document's records. [Units] are
// the identities of one text by place. A [Layout] is a text with both: its marks, the text in
// and between them, and whose each mark is. So what a person types inside of an agent's mark is
// the person's and plain, and marks of two authors that touch are two suggestions.
package attribution
