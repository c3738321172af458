// Package grep finds lines of text by regular expressions and prints them as
// ripgrep does: the same lines, counts, context and separators for the same text.
//
//	p, err := grep.Compile(`TODO|FIXME`, grep.Options{IgnoreCase: true})
//	p.Matches(text)                                 // at least one line
//	p.Count(text, false)                            // how many lines
//	p.Print("Lens/A.md", text, grep.Format{LineNumbers: true, After: 2}, nil)
//
// # Syntax
//
// Patterns are RE2 syntax (package regexp/syntax); '^' and '$' match at lines.
// What differs from ripgrep's own engine: \d, \s, \w and \b are ASCII; inside a
// class there are no set operations ("&&", "--", "~~") and no nested classes; \Z is
// not known. Every pattern takes time linear in the text.
//
// Without Multiline no match crosses a line break: classes lose the line break,
// and a pattern that names one is an error. With it, '.' matches line breaks too
// (ripgrep's --multiline-dotall), and counts are of matches, not of lines.
//
// # Speed
//
// From the parsed pattern come clauses ([Pattern.Clauses]): sets of literals of
// which every match contains at least one. A text, or a line, without them is passed
// over by substring search; only what is left is run through the expression.
//
// A Pattern may be used from several goroutines.
package grep
