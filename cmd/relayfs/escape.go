package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// What comes from a note, a name or an author is no command to a terminal: control
// characters of both kinds, those that turn the direction of text, and bytes that are
// no UTF-8 are shown as pictures. Each text passes through one of these functions
// where it is printed, and only there; JSON and what goes into a pipe as a note's own
// bytes ('cat', 'grep') is exact.

// printable is text of several lines.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// oneLine is text that must stay on one line, so that it cannot pass for another.
func oneLine(s string) string { return strings.Map(visible, s) }

// belowFirst is printable with the lines but the first indented: an error of several
// lines, none of which passes for another message.
func belowFirst(s string) string { return strings.ReplaceAll(printable(s), "\n", "\n  ") }

// visible is a character that a terminal shows and does not obey.
func visible(r rune) rune {
	switch {
	case r < 0x20:
		return r + 0x2400 // its picture
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
		return unicode.ReplacementChar
	}
	return r
}

// printableWriter makes what is written to it printable: for a log, which quotes all
// but DEL by itself.
type printableWriter struct{ w io.Writer }

func (p printableWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printNote prints what notes hold: exactly, unless a terminal would obey it.
func printNote(w io.Writer, text string) error {
	if toTerminal(w) {
		text = printable(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// printLine prints one line of facts.
func printLine(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, oneLine(fmt.Sprintf(format, args...)))
}
