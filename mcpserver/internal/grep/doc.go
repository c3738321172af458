// Package grep finds lines of text by regular expressions, and paths by globs, and prints them as
// ripgrep does: the same lines, counts, context and separators for the same text.
//
//	p, err := grep.Compile(`TODO|FIXME`, grep.Options{IgnoreCase: true})
//	p.Matches(text)                                 // at least one line
//	p.Count(text, false)                            // how many lines
//	p.Entries("Lens/A.md", text, grep.Format{LineNumbers: true, After: 2}, -1)
//
// # Syntax
//
// Patterns use RE2 syntax (package regexp/syntax); '^' and '$' match at lines. Unlike in ripgrep's own engine, set
// operations ("&&", "--", "~~") in classes and nested classes are errors, and there is no \Z. \d, \s, \w and \b are
// Unicode's. Package regexp supports only ASCII \b, so the automaton decides which lines match. If a matching line has
// no match for regexp, the matches of the expression without \b are used. Line breaks are LF or CRLF, unless the pattern
// contains a carriage return. Every pattern takes time linear in the text.
//
// Without Multiline no match crosses a line break: the line break is removed from classes, and a literal line break in a
// pattern is an error. With Multiline, '.' also matches line breaks (ripgrep's --multiline-dotall), and counts are of
// matches, not of lines.
//
// # Speed
//
// Clauses ([Pattern.Clauses]) are sets of literals, derived from the parsed pattern; every match contains at least one
// literal of each. A substring search skips texts and lines without them; only the rest is matched against the
// expression.
//
// A Pattern is safe for concurrent use.
package grep
