// Package frontmatter reads the front matter of notes, and edits it so that unchanged entries keep their bytes.
//
// Front matter is the YAML mapping between the line "---" that begins a note and the next such line. [Parse] reads its
// entries, the note's [Properties], in their order; [Rewrite] replaces them:
//
//	text := "---\ntags: [a, b] # mine\ntitle: 'Old'\n---\nBody\n"
//	p, err := frontmatter.Parse(text)
//	text, err = frontmatter.Rewrite(text, p.With("tags", []any{"a", "b", "c"}))
//	// "---\ntags: [a, b, c] # mine\ntitle: 'Old'\n---\nBody\n"
//
// Scalars follow the core schema of YAML 1.2, as in Obsidian: "yes" and 2026-01-31 are strings. A value is nil, a bool,
// an int64, a float64, a string, a []any, or Properties for a mapping.
//
// Rewrite changes only the bytes of differing entries, list items and scalars. Comments, quotes, order, blank lines,
// line ends and the body stay. New entries go to the end, in Obsidian's style. Rewrite parses the result. If the result
// does not have exactly the wanted properties, for example because other entries refer to a removed anchor, Rewrite
// returns [ErrEntangled].
//
// Shared documents may mirror the properties next to the text; see [Mirror].
//
// Front matter that is not a YAML mapping, or has a property twice, is a [*SyntaxError]. All functions are pure.
package frontmatter
