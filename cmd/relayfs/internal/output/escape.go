// Package output writes what people and scripts read: texts, JSON, and a progress line on a terminal. It
// knows nothing of notes.
//
// Text of a note, a name or an author must not be a command to a terminal. So control characters, those
// that change the direction of text, and bytes that are not UTF-8 are shown as pictures. Each text passes
// through one of these functions where it is printed, and only there. JSON is exact, and so are notes in a
// pipe ('cat', 'grep').
package output

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// JSON prints v for scripts.
func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Plural returns "1 note" or "2 notes".
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Printable returns text of several lines for a terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// OneLine returns text for one line, so that it cannot pass for another line.
func OneLine(s string) string { return strings.Map(visible, s) }

// BelowFirst is Printable with all lines but the first indented, so that none passes for another message.
func BelowFirst(s string) string { return strings.ReplaceAll(Printable(s), "\n", "\n  ") }

// visible returns a character that a terminal shows and does not obey.
func visible(r rune) rune {
	switch {
	case r < 0x20:
		return r + 0x2400 // its picture
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
		return unicode.ReplacementChar
	}
	return r
}

// PrintableWriter makes printable what is written to w: a log, which quotes everything but DEL itself.
func PrintableWriter(w io.Writer) io.Writer { return printableWriter{w} }

type printableWriter struct{ w io.Writer }

func (p printableWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, Printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Note prints text of notes: exactly, but printable on a terminal.
func Note(w io.Writer, text string) error {
	if toTerminal(w) {
		text = Printable(text)
	}
	_, err := io.WriteString(w, text)
	return err
}

// Line prints one line.
func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, OneLine(fmt.Sprintf(format, args...)))
}
