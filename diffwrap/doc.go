// Package diffwrap is a lens between a note that holds pending suggestions and the text that a reader sees.
//
// Suggestions are CriticMarkup: {--deleted--}, {++added++}, {~~old~>new~~}, {>>comment<<}, {==highlight==}. The stored
// text, marks included, is the raw text. A View is a rendering of the raw text for a reader: Accepted has all
// suggestions applied, Original has none. Put is the reverse: a writer has read the accepted view and writes back a
// changed text. Put returns the edits of the raw text that make the written text its accepted view, with changes that a
// user can accept or reject one by one:
//
//	raw := "I {--teh--}{++the++} best fox.\n"
//	diffwrap.Accepted(raw)                                        // "I the best fox.\n"
//	edits, err := diffwrap.Put(raw, "I the best red fox.\n")     // insert "{++red ++}" at byte 26
//	diffwrap.Apply(raw, edits)                                    // "I {--teh--}{++the++} best {++red ++}fox.\n"
//
// Put returns edits and not a text, because the raw text is a shared document. Text that no edit touches keeps its
// identity, so that concurrent changes by others still apply to it.
//
// # Laws
//
// R is the raw text, W the written text, and R' the raw text after Put(R, W):
//
//  1. PutGet: Accepted(R') is W, byte for byte, with these exceptions. A W that differs from Accepted(R) only in the
//     kind of its line breaks, or in a final line break, is no change. If all breaks of W are of one kind, Put takes
//     their kinds from R's views (KeepBreaks). If R starts with a byte order mark, Put treats W as if W did, too;
//     otherwise it usually ignores a byte order mark at the start of W.
//  2. GetPut: Put(R, Accepted(R)) changes nothing.
//  3. Base: Original(R') is Original(R). R' without the writer's marks and comments is R without them, byte for byte: a
//     rejection restores the original, including highlights and comments. Front matter is the exception. It never gets
//     marks, because a mark breaks the YAML. Its changes are written directly and reported, and Options can forbid them
//     (FrontMatterPolicy).
//  4. No nesting: Put writes only the marks {--x--} and {++y++}. Their text is never empty and contains no opener, no
//     closer of their own form, no ~> and no @@; a run is cut in the middle of such text. An addition directly follows
//     its deletion. No run ends between CR and LF.
//  5. Amend: editing one's own pending addition changes it in place. Deleting it, or writing deleted text again, leaves
//     no mark.
//  6. Path independence: the marks of a line depend on the original line and the new line, and not on the states of the
//     line in between, unless a literal brace and a mark next to it happen to form an opener. Put(R', W) changes
//     nothing. For several lines this holds only for the views: which lines are compared with each other, and where a
//     mark between blocks is, depends on the text at the time of the change. In 999 of 1,000 cases two changes mark at
//     most 1.5 times as much text as one change with the same result.
//  7. Highlights and comments: marks go inside a highlight. Put removes a highlight that becomes empty, and changes no
//     other highlight. It does not touch an open comment that W keeps. If W leaves out another author's comment, or
//     moves it across an unchanged line, the comment is deleted like text, by marks that are cut at its edges and in
//     its opener, so that no parser reads it as a comment. A new comment in W is usually written as a comment; it has
//     one line and no author except the writer. Comments that Options.Owners gives to the writer count as the writer's
//     own, like the writer's additions. Put never changes another author's pending suggestion, or a comment that awaits
//     a decision (Waiting).
//  8. Minimal: in the body, the edits insert delimiters and new text around existing characters. They delete only
//     delimiters and metadata of suggestions, highlights that become empty, and the writer's own pending additions and
//     comments. They keep, delete and insert delimiters as a whole.
//  9. Refusals: Put returns either a result or a *RefusedError that names the line and the literal.
//
// The laws are property tests (laws_test.go, comments_test.go). If a text has no literal delimiters, they hold by
// construction. Put parses every result before it returns it (verify.go), and refuses a change that it cannot write.
//
// # How Put works
//
// Put (put.go) is a pipeline. Each stage takes the result of the previous stage. Refusals that need no comparison come
// before it.
//
//	critic.Parse      the raw text    → cells: text, marks, comments, highlights
//	frontMatter       both texts      → where their bodies start; edits of the front matter
//	Patch.Compare     both bodies     → hunks: the changed ranges (Comparer.Exact), without other authors' text
//	Patch.regions     hunks           → regions: lines whose marks are rewritten, and the blocks around them (block)
//	Comparer.Readable a region        → hunks that are easy to read
//	placement.Hunks   these hunks     → hunks that keep unchanged blocks recognisable
//	closeEnds         these hunks     → hunks that if possible do not end in an opening brace
//	emitter.write     these hunks     → edits of the raw text
//	verify            the edits       → a result, or a refusal
//
// Package marking divides cells into pieces: unchanged text, text that the writer's own marks add or delete, and text
// of another author. It rewrites the marks of each region from the region's original text and new text alone, and
// changes nothing else. Comments that stay divide the texts that are compared. Package internal/align compares lines
// first, and then the words of similar lines. A run within a line crosses neither the line marker nor a pipe of a table
// row, and cuts no construct such as a link. Runs of whole lines are cut between blocks. A few changes of a line stay
// separate; many become one. Placement widens a mark that would cut a multi-line construct to the whole construct, and
// moves marks so that unchanged blocks are still recognised. If nothing less keeps two such blocks, it replaces all
// text between them. If the result does not verify, the last stages run again with other ways to write
// (marking.WriteOptions).
//
// The rules are rows of tables: LineMarkers, Constructs, Destinations and Joints (internal/markdown) for tokens,
// CoalesceRules and MergeRules (internal/align) for words, Places and Lines (internal/placement) for placement.
// rules_test.go says what each row does, and checks it by an example. testdata/put has the cases of whole stages;
// docs/marks.md shows the results.
//
// Parsers disagree about a text with literal delimiters. In prose Put follows most of them: the leftmost opener counts,
// it ends at its first own closer, nothing nests except marks in highlights, and an opener without a closer is text.
// Delimiters in code, formulas, front matter, templates and similar places are literal, unless the caller knows the
// mark (Known). Put looks for such places in the text without the known marks, because a known mark may cut a fence or
// form one.
//
// # Authors
//
// A mark may name its author, in one of several dialects (Dialect). Put reads all of them. Marks without an author, and
// marks of Options.Author, are the writer's own unless Options.Owners says otherwise.
//
// All functions except Literals.Has are pure and safe for concurrent use. The same input gives the same output on any
// machine: work is bounded by size, never by time.
package diffwrap
