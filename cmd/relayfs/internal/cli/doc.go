// Package cli prints the output of commands and defines the errors of a command line. JSON, Note, Line and Result write
// results; Stderr is the terminal with its progress line; UsageError and HintError carry the exit code and the next
// step; Text turns an error of Go's libraries into a sentence for users.
//
// Text from a note, a file name or an author cannot control a terminal. The package replaces control characters,
// characters that change the direction of text, and bytes that are not UTF-8. Each text is replaced exactly once, when
// it is printed. JSON, and notes in a pipe ('cat', 'grep'), are printed unchanged.
package cli
