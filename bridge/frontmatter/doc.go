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
// Scalars are read by the core schema of YAML 1.2, as Obsidian does: "yes" and 2026-01-31 are strings. A value is nil, a
// bool, an int64, a float64, a string, a []any, or Properties for a mapping.
//
// Rewrite changes only the bytes of differing entries, list items and scalars. Comments, quotes, order, blank lines, line
// ends and the body stay. New entries go to the end, in Obsidian's style. It parses the result: if that does not have
// exactly the wanted properties, such as when other entries refer to a removed anchor, it returns [ErrEntangled].
//
// Shared documents may mirror the properties next to the text; see [Mirror].
//
// Front matter that is not a YAML mapping, or has a property twice, is a [*SyntaxError]. All functions are pure.
package frontmatter
