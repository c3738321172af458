package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
)

func JSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return ofOutput(err)
	}
	return err
}

func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Printable replaces the characters of a multi-line text that could control a terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return visible(r)
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// OneLine returns s without line breaks, so that no part of it can look like another line of output.
func OneLine(s string) string { return strings.Map(visible, s) }

// IndentRest returns the Printable form of s with every line except the first indented, so that no line looks like
// another message.
func IndentRest(s string) string { return strings.ReplaceAll(Printable(s), "\n", "\n  ") }

func visible(r rune) rune {
	switch {
	case r < 0x20:
		return r + 0x2400 // the character's Unicode picture
	case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
		return unicode.ReplacementChar
	}
	return r
}

// PrintableWriter applies Printable to the written text. slog's text handler needs it, because the handler quotes every
// control character except DEL.
type PrintableWriter struct{ W io.Writer }

func (p PrintableWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.W, Printable(string(b))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Result keeps the first error of its writes in Err, so that functions can print without checking each write.
type Result struct {
	W   io.Writer
	Err error
}

func (r *Result) Write(b []byte) (n int, err error) {
	if r.Err == nil {
		n, r.Err = r.W.Write(b)
		r.Err = ofOutput(r.Err)
	}
	return n, r.Err
}

func ofOutput(err error) error {
	if err == nil {
		return nil
	}
	return WithHint(fmt.Errorf("the output cannot be written: %w", err), "send it to another file or program")
}

// Note prints the text of notes. On a terminal it prints the Printable form, elsewhere the unchanged text.
func Note(w io.Writer, text string) error {
	if toTerminal(w) {
		text = Printable(text)
	}
	_, err := io.WriteString(w, text)
	return ofOutput(err)
}

func Line(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, OneLine(fmt.Sprintf(format, args...)))
}

func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func toTerminal(w io.Writer) bool {
	if r, ok := w.(*Result); ok {
		w = r.W
	}
	f, ok := w.(*os.File)
	return ok && IsTerminal(f)
}

const eraseLine = "\r\x1b[K"

// Screen is a terminal whose last line shows progress. Other output is printed above that line.
type Screen struct {
	f *os.File

	mu   sync.Mutex // guards the fields below
	line string     // the progress line, or ""
}

// Stderr receives all output of commands except their results.
var Stderr = &Screen{f: os.Stderr}

// Write prints p in place of the progress line. If p ends in a line break, Write prints the progress line again below
// p.
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

// Show replaces the progress line if the terminal can erase a line. If last is set, the line stays on the screen.
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
		line = ansi.Truncate(line, width-1, "")
	}
	_, _ = s.f.WriteString(eraseLine + line)
	s.line = line
}

// Colour reports whether w is a terminal with colours enabled (see no-color.org).
func Colour(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && toTerminal(w)
}
