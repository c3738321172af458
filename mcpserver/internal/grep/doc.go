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
// Patterns are RE2 syntax (package regexp/syntax); '^' and '$' match at lines. The
// differences from ripgrep's own engine: a class has no set operations ("&&", "--", "~~")
// and no nested classes, which are errors; there is no \Z. \d, \s, \w and \b are Unicode's.
// Package regexp takes \b from ASCII, so that the automaton decides which lines match, and a
// line without such a match has those of the expression without \b. Line breaks are LF or
// CRLF, unless the pattern names a carriage return. Every pattern takes time linear in the text.
//
// Without Multiline no match crosses a line break: classes lose the line break, and a
// pattern that names one is an error. With Multiline, '.' matches line breaks too (ripgrep's
// --multiline-dotall), and counts are of matches, not of lines.
//
// # Speed
//
// Clauses ([Pattern.Clauses]) are sets of literals, derived from the parsed pattern, of
// which every match contains at least one. A substring search skips texts and lines without
// them; only the rest is matched against the expression.
//
// A Pattern may be used from several goroutines.
package grep
