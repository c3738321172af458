// Package semantic finds notes by both their words and their subject.
//
// # Terms
//
// A note is cut into passages of a few paragraphs. An [Embedder] turns a passage into a vector; texts about the same
// subject have vectors with a small angle between them. An [Index] keeps the words (internal/lexical) and the vectors
// of a workspace's notes current. It ranks the notes for a query by words and by vectors, and fuses the two rankings.
//
// # Embedders
//
// By default the vector of an English passage is the sum of the vectors of its words. Notes in other languages have no
// vectors; only their words are searched. With an [Endpoint], a server with the OpenAI-compatible API provides vectors
// for all notes.
//
// A file in Dir stores the vectors by the hash of a passage together with its note's name. So a passage is not embedded
// again after a restart.
//
// An Index is safe for concurrent use. A search first embeds the changed notes. The first search embeds every note and
// reports its progress to model.WithProgress. Errors of an endpoint wrap [ErrEndpoint].
package semantic
