// Package attribution tells who wrote what. It is pure: it reads the records of a
// document and the identities of a text's characters, and compares no texts.
//
// A [Ledger] is what the records tell of characters: who wrote them, and which suggestion
// adds or deletes them. [Units] are the identities of one text by place. A [Layout] is a
// text with both: its marks, the text in and between them, and whose each mark is. So what
// a person types inside of an agent's mark is the person's and plain, and marks of two
// authors that touch are two suggestions.
package attribution
