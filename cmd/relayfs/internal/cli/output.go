// Package cli has what commands print, texts, JSON and a progress line on a terminal, and the errors that a command line
// distinguishes. It knows nothing of notes.
//
// Text of a note, a name or an author must not be a command to a terminal. So control characters, those
// that change the direction of text, and bytes that are not UTF-8 are shown as pictures. Each text passes
// through one of these functions where it is printed, and only there. JSON is exact, and so are notes in a
// pipe ('cat', 'grep').
package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
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

// PrintableWriter makes printable what is written: a log, which quotes everything but DEL itself.
type PrintableWriter struct{ W io.Writer }

func (p PrintableWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.W, Printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Result takes what a command prints. Err is the first error of a write, which who prints need not look at.
type Result struct {
	W   io.Writer
	Err error
}

func (r *Result) Write(b []byte) (n int, err error) {
	if r.Err == nil {
		n, r.Err = r.W.Write(b)
	}
	return n, r.Err
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

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func toTerminal(w io.Writer) bool {
	if r, ok := w.(*Result); ok {
		w = r.W
	}
	f, ok := w.(*os.File)
	return ok && IsTerminal(f)
}

const eraseLine = "\r\x1b[K"

// Screen is a terminal whose last line shows progress. Other output comes before that line.
type Screen struct {
	f *os.File

	mu   sync.Mutex // protects the following
	line string     // as it is shown, "" for none
}

// Stderr is the terminal for everything that is not a result.
var Stderr = &Screen{f: os.Stderr}

// Write writes p over the progress line, and the line after it if p ends a line.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.line == "" {
		return s.f.Write(p)
	}
	_, _ = s.f.WriteString(eraseLine)
	n, err := s.f.Write(p)
	if !bytes.HasSuffix(p, []byte("\n")) {
		s.line = ""
	}
	_, _ = s.f.WriteString(s.line)
	return n, err
}

// Show replaces the progress line, on a terminal that can do that. The last one stays on the screen.
func (s *Screen) Show(line string, last bool) {
	if os.Getenv("TERM") == "dumb" || !IsTerminal(s.f) {
		return
	}
	line = OneLine(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if last {
		_, _ = s.f.WriteString(eraseLine + line + "\n")
		s.line = ""
		return
	}
	// A line that wraps cannot be erased.
	if width, _, err := term.GetSize(int(s.f.Fd())); err == nil && width > 0 {
		line = cutTo(line, width-1)
	}
	_, _ = s.f.WriteString(eraseLine + line)
	s.line = line
}

func cutTo(line string, width int) string {
	rest, state, size := line, -1, 0
	for rest != "" {
		var next string
		var w int
		_, next, w, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if size += w; size > width {
			return line[:len(line)-len(rest)]
		}
		rest = next
	}
	return line
}

// Colour reports whether w is a terminal that wants colour (see no-color.org).
func Colour(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && toTerminal(w)
}
