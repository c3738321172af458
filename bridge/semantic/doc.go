// Package semantic finds notes by what they are about, whatever their words.
//
// # Nouns
//
// A note is cut into passages of a few paragraphs. An [Embedder] turns a passage
// into a vector; texts about the same thing have vectors with a small angle
// between them. An [Index] keeps the vectors of a workspace's notes current and
// ranks the notes for a query by their best passage:
//
//	x := semantic.New(ws, semantic.Options{Dir: stateDir})
//	hits, err := x.Search(ctx, "keeping slugs off the lettuce", nil, 10)
//
// # Embedders
//
// Without one, vectors come from the notes themselves, by latent semantic
// analysis (Deerwester et al., 1990): weights of stemmed words and of pairs of
// Chinese or Japanese characters in each passage, reduced to the dimensions that
// explain most, by a randomized singular value decomposition (Halko, Martinsson
// and Tropp, 2011). New and changed passages are folded into the model that is
// there; when many have changed, Run makes a new one in the background. With an
// [Endpoint], vectors come from a server with the OpenAI-compatible API.
//
// Vectors are kept by the hash of their passage, in a file in Dir, so that
// nothing is embedded twice, not after a restart either.
//
// # Concurrency and errors
//
// All methods of an Index may be called from several goroutines. A search first
// embeds what has changed; the first one embeds every note, and reports to
// model.WithProgress. Errors of an endpoint wrap [ErrEndpoint].
package semantic
