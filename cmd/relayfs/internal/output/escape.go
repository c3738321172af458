// Package output writes what people and scripts read: texts, JSON, and on a terminal a
// line that says how far something is. It knows nothing of notes.
//
// What comes from a note, a name or an author is no command to a terminal: control
// characters of both kinds, those that turn the direction of text, and bytes that are
// no UTF-8 are shown as pictures. Each text passes through one of these functions
// where it is printed, and only there; JSON and what goes into a pipe as a note's own
// bytes ('cat', 'grep') is exact.
package output

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Printable is text of several lines.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// OneLine is text that must stay on one line, so that it cannot pass for another.
func OneLine(s string) string { return strings.Map(visible, s) }

// BelowFirst is printable with the lines but the first indented: an error of several
// lines, none of which passes for another message.
func BelowFirst(s string) string { return strings.ReplaceAll(Printable(s), "\n", "\n  ") }

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

// PrintableWriter makes what is written to w printable: for a log, which quotes all
// but DEL by itself.
func PrintableWriter(w io.Writer) io.Writer { return printableWriter{w} }

type printableWriter struct{ w io.Writer }

func (p printableWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, Printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Note prints what notes hold: exactly, unless a terminal would obey it.
func Note(w io.Writer, text string) error {
	if toTerminal(w) {
		text = Printable(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Line prints one line of facts.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, OneLine(fmt.Sprintf(format, args...)))
}
