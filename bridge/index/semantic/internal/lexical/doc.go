// Package lexical ranks documents by their words, by BM25F (Robertson, Zaragoza and Taylor, 2004): a word in a title,
// heading, tag or property counts for more than one in the body.
//
//	x := lexical.New()
//	x.Apply([]lexical.Document{{Key: "V/Slugs.md", Title: "Slugs", Body: "They eat lettuce."}}, nil)
//	q := x.Query("what eats lettuce")
//	x.Search(q, nil, 10)
//
// # Segments
//
// An Index is a list of segments, which never change except for the marks of documents that are gone. A batch of documents
// becomes a segment; one that is no longer than twice the next is merged with it, so that there are few, and each document
// is moved a logarithmic number of times. A segment is a few arrays of bytes: sorted terms, each with its documents.
//
// # Words
//
// A word of a query also stands for the terms that begin with it (Garten finds Gartenschlauch) and, if hardly a document has
// it, for its own parts. If no document has any word, the words stand for terms that begin as they do. All of these count
// for less.
//
// An Index is safe for concurrent use, except for Apply, which one goroutine calls at a time. It keeps no text.
package lexical
