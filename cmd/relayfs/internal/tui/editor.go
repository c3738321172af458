package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/rivo/uniseg"
)

// editor is a text with a cursor between before and after. It is an immutable value: key returns the next state. (The
// text area of bubbles does not fit, because it replaces tabs and moves by runes instead of grapheme clusters.)
type editor struct{ before, after string }

func (e editor) String() string { return e.before + e.after }

// key returns the state after a key. Cursor movements and deletions affect whole grapheme clusters.
func (e editor) key(k tea.KeyMsg) editor {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		e.before += strings.ReplaceAll(string(k.Runes), "\r", "\n") // terminals paste line breaks as \r
	case tea.KeyEnter:
		e.before += "\n"
	case tea.KeyTab:
		e.before += "\t"
	case tea.KeyBackspace:
		e.before, _ = cutLast(e.before)
	case tea.KeyDelete:
		_, e.after = cutFirst(e.after)
	case tea.KeyLeft:
		rest, c := cutLast(e.before)
		e.before, e.after = rest, c+e.after
	case tea.KeyRight:
		c, rest := cutFirst(e.after)
		e.before, e.after = e.before+c, rest
	case tea.KeyHome, tea.KeyCtrlA:
		e = e.to(strings.LastIndexByte(e.before, '\n') + 1)
	case tea.KeyEnd, tea.KeyCtrlE:
		e = e.to(len(e.before) + lineEnd(e.after))
	case tea.KeyUp:
		e = e.vertical(-1)
	case tea.KeyDown:
		e = e.vertical(1)
	case tea.KeyCtrlU:
		e.before = e.before[:strings.LastIndexByte(e.before, '\n')+1]
	case tea.KeyCtrlK:
		e.after = e.after[lineEnd(e.after):]
	}
	return e
}

func (e editor) to(off int) editor {
	all := e.String()
	return editor{all[:off], all[off:]}
}

// vertical moves the cursor to the same column of the line above or below. Without such a line, the cursor moves to the
// start or end of the text.
func (e editor) vertical(by int) editor {
	all := e.String()
	start := strings.LastIndexByte(e.before, '\n') + 1
	column := uniseg.GraphemeClusterCount(e.before[start:])
	var line int // start of the line to which the cursor moves
	switch {
	case by < 0 && start == 0:
		return e.to(0)
	case by < 0:
		line = strings.LastIndexByte(all[:start-1], '\n') + 1
	case lineEnd(e.after) == len(e.after):
		return e.to(len(all))
	default:
		line = len(e.before) + lineEnd(e.after) + 1
	}
	off, end := line, line+lineEnd(all[line:])
	for ; column > 0 && off < end; column-- {
		c, _ := cutFirst(all[off:end])
		off += len(c)
	}
	return e.to(off)
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

func cutFirst(s string) (first, rest string) {
	first, rest, _, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	return first, rest
}

func cutLast(s string) (rest, last string) {
	// A cluster never crosses a line break, so the last line is enough.
	at := strings.LastIndexByte(strings.TrimSuffix(s, "\n"), '\n') + 1
	for tail := s[at:]; tail != ""; {
		last, tail = cutFirst(tail)
	}
	return s[:len(s)-len(last)], last
}
