// Package diffwrap is a lens between a note that holds pending suggestions and the text that a reader is shown.
//
// Suggestions are CriticMarkup: {--deleted--}, {++added++}, {~~old~>new~~}, {>>comment<<}, {==highlight==}. The stored
// text, marks included, is the raw text. A View of it is what somebody is shown: Accepted with all suggestions carried
// out, Original with none. Put is the way back: a writer was shown the accepted view and wrote it back with changes, and
// Put says how the raw text must change so that the writer reads what it wrote and a person can accept or reject each
// change:
//
//	raw := "I {--teh--}{++the++} best fox.\n"
//	diffwrap.Accepted(raw)                                        // "I the best fox.\n"
//	edits, err := diffwrap.Put(raw, "I the best red fox.\n")     // insert "{++red ++}" at byte 26
//	diffwrap.Apply(raw, edits)                                    // "I {--teh--}{++the++} best {++red ++}fox.\n"
//
// Put returns edits and not a text, because the raw text is a shared document: what an edit does not touch keeps its
// identity there, and with it other people's concurrent changes.
//
// # Laws
//
// With R the raw text, W what was written, and R' the raw text after Put(R, W):
//
//  1. PutGet: Accepted(R') is W, byte for byte. A W that equals Accepted(R) but for the kind of its line breaks or
//     for a final one is no change; one that has all its breaks of one kind, and R's views all of the other, counts as if
//     it had those. A byte order mark at the start of R is taken to be at the start of W, too, and one that R has not is
//     not taken to be there.
//  2. GetPut: Put(R, Accepted(R)) changes nothing.
//  3. Base: Original(R') is Original(R), and R' without the writer's marks and comments is R without them, byte for byte:
//     what a rejection brings back is what was there, highlights and comments included. Front matter is the exception:
//     it is never marked, since a mark breaks the YAML; its changes go in directly, are reported, and can be forbidden
//     (FrontMatterPolicy).
//  4. No nesting: only {--x--} and {++y++} are written, never empty, with no opener, no own closer, no ~> and no @@
//     inside (runs are cut in the middle of such text), an addition directly after its deletion.
//  5. Amend: editing one's own pending addition changes it in place; taking it back, or writing deleted text again,
//     leaves no mark.
//  6. Path independence: the marks of a line depend on the original line and the new line, not on what the line was in
//     between; Put(R', W) changes nothing. Of several lines that holds for the views alone: which lines are paired, and where a
//     mark stands between blocks, depends on what was there when they changed. In 999 cases of 1,000 the marks then hold at
//     most half as much text again.
//  7. Furniture: highlights are never changed; marks go inside. An open comment that W keeps is left alone. One that W
//     leaves out, or has moved across a line that stays, is deleted like text, by marks that are cut at its edges and in
//     its opener, so that no reader takes it for a comment. A comment that W brings is written as such; it has one line
//     and no name but the writer's. Those of Options.Foreign's writer are the writer's own, like its additions. Another
//     author's pending suggestion is never changed, nor is a comment that waits (Options.Waits).
//  8. Minimal: the edits insert delimiters and new text around existing characters, and delete only delimiters and
//     metadata of suggestions and the writer's own pending additions and comments.
//  9. Refusals are decided before anything is returned, as a *RefusedError that names the line and the literal.
//
// The laws are property tests (laws_test.go, comments_test.go). Put holds them by construction where a text has no literal
// delimiters, and reads every result back before it returns it (verify.go), so that what cannot be written is refused.
//
// # How Put works
//
// The raw text is parsed into cells (internal/critic), and those are sorted by what they are to the writer into pieces
// (internal/marking). The accepted view is compared with the written text (internal/align), which shows which lines changed:
// regions. Where more than words of prose change, a region is as large as the blocks around it (block). Each region is marked anew
// from its original text and its new text alone, all else is left alone. Comments that stay part what is compared. That
// comparison follows the rules of readability: lines before words, similar lines paired, line markers and table cells left
// whole, few changes of a line kept apart and many made one, constructs such as links never cut, the ends of a pair changed
// together, whole-line runs a block at a time. Where runs begin and end is decided last (internal/placement): such that the blocks
// which did not change are still seen on the pending page; what lies between two of them is replaced whole if nothing less leaves
// them standing. Each rule has its cases in testdata/put; docs/marks.md shows what they come to.
//
// Readers disagree about a text with literal delimiters. Ours is the reading of most: the leftmost opener counts, it
// ends at its first own closer, nothing nests, an opener without a closer is text, and code gives no protection.
//
// # Authors
//
// A mark may say who made it, in one of several dialects (Dialect), all of which are read. Marks without an author, and
// those of Options.Author, are the writer's own.
//
// All functions are pure and safe for concurrent use. The same input gives the same output on any machine: work is
// bounded by size, never by time.
package diffwrap
