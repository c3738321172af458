// Package lexical ranks documents by their words, with BM25F (Robertson, Zaragoza and Taylor, 2004): a word in a title,
// heading, tag or property counts more than a word in the body.
//
// # Terms
//
// An Index has the documents of each term as an encoded list, and the sorted terms. A removed document stays in the lists
// until the removed documents are the majority.
//
// # Inexact matches
//
// A word of a query also matches the terms that begin or end with it (Schlauch finds Gartenschlauch). If hardly any
// document has the word, it also matches its own parts, and the terms that differ from it by one edit. Inexact matches
// count for less.
//
// An Index is safe for concurrent use, except for Apply, which only one goroutine may call at a time. An Index keeps no
// text.
package lexical
