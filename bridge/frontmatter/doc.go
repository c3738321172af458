// Package frontmatter reads the front matter of notes and changes it without
// touching what did not change.
//
// # Nouns
//
// Front matter is the YAML mapping between the line "---" that begins a note and
// the next such line. Its entries are the note's [Properties], in their order.
// [Parse] reads them; [Rewrite] makes them others:
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
// Rewrite compares the wanted properties with those that are there, and changes
// the bytes of the ones that differ: an entry of a mapping, an item of a list, one
// scalar. Comments, quotes, order, blank lines, line ends and the body stay. New
// entries go to the end, in the style that Obsidian writes. The result is read
// again before it is returned: if it does not hold exactly the wanted properties
// (a removed anchor that others refer to, say), the call is refused with
// [ErrEntangled], and nothing changed.
//
// # Errors and concurrency
//
// Front matter that is no YAML mapping, or has a property twice, is a
// [*SyntaxError] with its line in the note. All functions are pure.
package frontmatter
