// Package lexical ranks documents by their words, with BM25F (Robertson, Zaragoza and Taylor, 2004): a word in a title,
// heading, tag or property counts more than a word in the body.
//
// # Segments
//
// An Index is a list of segments, which are immutable except for the flags of removed documents. A batch of documents
// becomes a segment. A segment that is at most twice as long as the next one is merged with it. So there are few
// segments, and each document is moved a logarithmic number of times. A segment consists of a few arrays of bytes:
// sorted terms, each with its documents.
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
