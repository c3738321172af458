// Package lexical ranks documents by their words, by BM25F (Robertson, Zaragoza and Taylor, 2004): a
// word in a title, heading, tag or property counts for more than one in the body.
//
// # Segments
//
// An Index is a list of segments, which are immutable except for the marks of removed documents. A batch of documents
// becomes a segment; a segment no longer than twice the next is merged with it, so that there are few, and each
// document is moved a logarithmic number of times. A segment is a few arrays of bytes: sorted terms, each with its
// documents.
//
// # Inexact matches
//
// A word of a query also matches the terms that begin or end with it (Schlauch finds Gartenschlauch), its own parts,
// and, if hardly a document has it, the terms at one edit. They count for less.
//
// An Index is safe for concurrent use, except for Apply, which one goroutine calls at a time. It keeps no text.
package lexical
