// Package grep finds lines of text by regular expressions, and paths by globs. It prints lines, counts, context and
// separators like ripgrep.
//
//	p, err := grep.Compile(`TODO|FIXME`, grep.Options{IgnoreCase: true})
//	p.Matches(text)                                 // whether at least one line matches
//	p.Count(text, false)                            // the number of matching lines
//	p.Entries("Lens/A.md", text, grep.Format{LineNumbers: true, After: 2}, -1)
//
// # Syntax
//
// Patterns use RE2 syntax (package regexp/syntax); '^' and '$' match at the start and end of each line. Unlike in
// ripgrep's own engine, nested classes and set operations ("&&", "--", "~~") in classes are errors, and there is no \Z.
// \d, \s, \w and \b follow Unicode. Package regexp supports only ASCII \b, so the automaton decides which lines match.
// If regexp finds no match in a matching line, the package uses the matches of the expression without \b. Line breaks
// are LF or CRLF, unless the pattern contains a carriage return. The time for finding one match is linear in the length
// of the text.
//
// Without Multiline no match crosses a line break: classes do not contain the line break, and a literal line break in a
// pattern is an error. With Multiline, '.' also matches line breaks (as with ripgrep's --multiline-dotall), and counts
// are numbers of matches, not of lines.
//
// # Speed
//
// Clauses ([Pattern.Clauses]) are sets of literals that are derived from the parsed pattern. Every match contains at
// least one literal of each clause. A substring search skips texts and lines without these literals; only the other
// lines are matched against the expression.
//
// A Pattern is safe for concurrent use.
package grep
