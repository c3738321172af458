// Package semantic finds notes by their subject, whatever their words, and by both at once.
//
// # Nouns
//
// A note is cut into passages of a few paragraphs. An [Embedder] turns a passage
// into a vector; texts about the same subject have vectors with a small angle
// between them. An [Index] keeps the vectors of a workspace's notes current and
// ranks the notes for a query by their best passage:
//
//	x := semantic.New(ws, semantic.Options{Dir: stateDir})
//	hits, err := x.SearchIn(ctx, ws, "keeping slugs off the lettuce", nil, nil, 10)
//	answer, err := x.Find(ctx, ws, semantic.Query{Text: "keeping slugs off the lettuce"}, semantic.Place{}, 10)
//
// SearchIn ranks by meaning alone. Find ranks by words as well (bridge/lexical), and fuses the
// two by their ranks.
//
// # Embedders
//
// By default an English note has vectors from what its words mean in general: the sum of the vectors of its words.
// Those of other languages come from the notes themselves, by latent semantic analysis
// (Deerwester et al., 1990): weights of terms (bridge/terms) in each passage, reduced to the dimensions that explain most, by a
// randomized singular value decomposition (Halko, Martinsson and Tropp, 2011). New and
// changed passages are folded into the present model; when many have changed, Run builds
// a new one in the background. A question has a vector in either space. With an [Endpoint], vectors come from a server with the
// OpenAI-compatible API.
//
// Vectors are stored by the hash of their passage, in a file in Dir, so that nothing is
// embedded twice, even after a restart.
//
// # Concurrency and errors
//
// An Index is safe for concurrent use. A search first embeds what has changed; the first
// one embeds every note, and reports to model.WithProgress. Errors of an endpoint wrap
// [ErrEndpoint].
package semantic
