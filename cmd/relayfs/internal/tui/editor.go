package tui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/rivo/uniseg"
)

// editor is a line of text with a cursor between before and after. It is an immutable value: key returns the next state.
// (The text input of bubbles moves by runes instead of grapheme clusters.)
type editor struct{ before, after string }

func (e editor) String() string { return e.before + e.after }

// key returns the state after a key. Cursor movements and deletions affect whole grapheme clusters.
func (e editor) key(k tea.KeyMsg) editor {
	switch k.Type {
	case tea.KeyRunes, tea.KeySpace:
		e.before += strings.NewReplacer("\r", " ", "\n", " ").Replace(string(k.Runes)) // a pasted text may have several lines
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
		e.before, e.after = "", e.String()
	case tea.KeyEnd, tea.KeyCtrlE:
		e.before, e.after = e.String(), ""
	case tea.KeyCtrlU:
		e.before = ""
	case tea.KeyCtrlK:
		e.after = ""
	}
	return e
}

func cutFirst(s string) (first, rest string) {
	first, rest, _, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	return first, rest
}

func cutLast(s string) (rest, last string) {
	for tail := s; tail != ""; {
		last, tail = cutFirst(tail)
	}
	return s[:len(s)-len(last)], last
}
