// Package frontmatter reads the front matter of notes, and edits it so that unchanged
// entries keep their bytes.
//
// # Nouns
//
// Front matter is the YAML mapping between the line "---" that begins a note and
// the next such line. Its entries are the note's [Properties], in their order.
// [Parse] reads them; [Rewrite] replaces them:
//
//	text := "---\ntags: [a, b] # mine\ntitle: 'Old'\n---\nBody\n"
//	p, err := frontmatter.Parse(text)
//	text, err = frontmatter.Rewrite(text, p.With("tags", []any{"a", "b", "c"}))
//	// "---\ntags: [a, b, c] # mine\ntitle: 'Old'\n---\nBody\n"
//
// # Values
//
// Scalars are read by the core schema of YAML 1.2, as Obsidian does: "yes" and
// 2026-01-31 are strings. A value is nil, a bool, an int64, a float64, a string,
// a []any, or Properties for a mapping.
//
// # Edits
//
// Rewrite compares the wanted properties with the present ones, and changes the bytes of
// those that differ: an entry of a mapping, an item of a list, one scalar. Comments,
// quotes, order, blank lines, line ends and the body stay. New entries go to the end, in
// Obsidian's style. Rewrite parses the result before it returns it: if that does not hold
// exactly the wanted properties (say, because other entries refer to a removed anchor), it
// returns [ErrEntangled].
//
// Shared documents may mirror the properties next to the text; Mirror returns what a change
// of the text changes there.
//
// # Errors and concurrency
//
// For front matter that is no YAML mapping, or has a property twice, the error is a
// [*SyntaxError] with the line of the note. All functions are pure.
package frontmatter
