package output

import (
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

func toTerminal(w io.Writer) bool {
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

// TakesLines reports whether the Screen is a terminal that can replace a line.
func (s *Screen) TakesLines() bool { return os.Getenv("TERM") != "dumb" && IsTerminal(s.f) }

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

// Show replaces the progress line. The last one stays on the screen.
func (s *Screen) Show(line string, last bool) {
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
