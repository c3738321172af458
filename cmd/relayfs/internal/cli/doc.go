// Package cli prints the output of commands and defines the errors of a command line. JSON, Note and Line print, and
// Result keeps the first error of several prints. Stderr is the terminal with its progress line. A UsageError means
// exit code 2, and a HintError has the next step. Text turns an error of Go's libraries into a sentence for users.
//
// Text from a note, a file name or an author must not control a terminal. Printable and OneLine replace control
// characters, characters that change the direction of text, and bytes that are not UTF-8. Line, Screen.Show and
// PrintableWriter use them; so does Note on a terminal. Other callers apply Printable or OneLine once to each text that
// they print. JSON, and notes in a pipe ('cat', 'grep'), are printed unchanged.
package cli
