// Package semantic finds notes by their words and by their subject at once.
//
// # Nouns
//
// A note is cut into passages of a few paragraphs. An [Embedder] turns a passage into a vector; texts about the same subject
// have vectors with a small angle between them. An [Index] keeps the words (internal/lexical) and the vectors of a
// workspace's notes current, and ranks the notes for a query by both, fused by their ranks:
//
//	x := semantic.New(ws, semantic.Options{Dir: stateDir})
//	answer, err := x.Find(ctx, ws, semantic.Query{Text: "keeping slugs off the lettuce"}, semantic.Place{}, 10)
//
// # Embedders
//
// By default an English note has vectors from what its words mean in general: the sum of the vectors of its words.
// Notes in other languages have none, and are found by their words. With an [Endpoint], vectors come from a server with
// the OpenAI-compatible API, for all notes.
//
// Vectors are stored by the hash of their passage, in a file in Dir, so that nothing is
// embedded twice, even after a restart.
//
// # Concurrency and errors
//
// An Index is safe for concurrent use. A search first embeds what has changed; the first one embeds every note, and reports
// to model.WithProgress. Errors of an endpoint wrap [ErrEndpoint].
package semantic
