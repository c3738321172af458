package output

import (
	"bytes"
	"io"
	"os"
	"sync"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// IsTerminal says whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// toTerminal says whether what is written to w reaches a terminal.
func toTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && IsTerminal(f)
}

// eraseLine takes away the line that the cursor is in.
const eraseLine = "\r\x1b[K"

// Screen is a terminal with a line at its end that says how far something is.
// What is written meanwhile comes before that line.
type Screen struct {
	f *os.File

	mu   sync.Mutex // protects the following
	line string     // as it is shown, "" for none
}

// Stderr is where everything goes that is no result. There is but one.
var Stderr = &Screen{f: os.Stderr}

// TakesLines says whether there is a terminal on which a line can be replaced.
func (s *Screen) TakesLines() bool { return os.Getenv("TERM") != "dumb" && IsTerminal(s.f) }

// Write writes p in the place of the line, which follows if p ends one.
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

// Show puts a line in the place of the one before; the last one stays where it is.
func (s *Screen) Show(line string, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last {
		_, _ = s.f.WriteString(eraseLine + line + "\n")
		s.line = ""
		return
	}
	// A line that wraps could not be taken away.
	if width, _, err := term.GetSize(int(s.f.Fd())); err == nil && width > 0 {
		line = cutTo(line, width-1)
	}
	_, _ = s.f.WriteString(eraseLine + line)
	s.line = line
}

// cutTo is as much of a line as fits into a width.
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

// Colour says whether w is a terminal that wants colour (see no-color.org).
func Colour(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && toTerminal(w)
}
