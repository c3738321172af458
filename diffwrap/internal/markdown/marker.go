// Package markdown finds the constructs that a change leaves whole: the marker of a line, the tokens of its text, and atoms that go on
// over line breaks. It reads a line, or the lines of a paragraph, by itself; of blocks it knows only the fences.
package markdown

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/rule"
)

// LineMarker is a rule about what makes a line what it is.
type LineMarker struct {
	rule.Rule
	end func(s string, n int) int // of the marker at offset n of a line; n for none
}

// LineMarkers are all but indentation and the marks of quotes, which stand before them.
var LineMarkers = []LineMarker{
	{rule.New("callout marker", "the type of a callout changes", "the line is replaced whole",
		"Text.{--\n> [!tip] Title--}{++\n> [!note] Title++}"), calloutMarker},
	{rule.New("line of rule characters", "a thematic break, an underline or a delimiter row changes", "it is replaced whole",
		"Text.\n{--\n- - ---}{++\n- - - -++}\n\nMore."), ruleMarker},
	{rule.New("fence marker", "a fence becomes another one", "its line is replaced whole",
		"Text.\n\n{--```js\n--}{++~~~js\n++}code{--\n```--}{++\n~~~++}"), fenceMarker},
	{rule.New("heading marker", "the level of a heading changes", "the line is replaced whole",
		"Text.\n{--\n## Title--}{++\n### Title++}\n\nMore."), headingMarker},
	{rule.New("checkbox", "a task is done, or is no task any longer", "the line is replaced whole",
		"- a{--\n- [ ] b--}{++\n- [x] b++}"), taskMarker},
	{rule.New("item marker", "a bullet or a number changes", "the line is replaced whole",
		"1. a{--\n2. b--}{++\n3. b++}"), itemMarker},
}

// Marker is the part of a line that makes it what it is: indentation, quote marks, and what LineMarkers say.
// It returns the marker's length. Where the marker changes the whole line is replaced, since a mark in front of it
// or inside it would stop the line from being rendered as what it is.
func Marker(s string) int {
	n := indentation(s)
	if n < len(s) && isLetter(s[n]) {
		return n // as most lines of prose: none of the following starts so
	}
	for _, m := range LineMarkers {
		if end := m.end(s, n); end > n {
			return end
		}
	}
	return n
}

// indentation returns the length of the blanks and the marks of quotes that a line starts with.
func indentation(s string) int {
	n := Skip(s, 0, " \t")
	for n < len(s) && s[n] == '>' {
		n = Skip(s, n+1, " \t")
	}
	return n
}

// calloutMarker is about the type of a callout.
func calloutMarker(s string, n int) int {
	if end := strings.IndexByte(s[n:], ']'); end > 0 && strings.HasPrefix(s[n:], "[!") {
		return Skip(s, n+end+1, "+- \t")
	}
	return n
}

func ruleMarker(s string, n int) int {
	if isRule(s[n:]) {
		return len(s)
	}
	return n
}

func fenceMarker(s string, n int) int { return n + FenceLength(s[n:]) }

func headingMarker(s string, n int) int {
	if hashes := Skip(s, n, "#"); hashes > n && hashes-n <= 6 && (hashes == len(s) || s[hashes] == ' ') {
		return Skip(s, hashes, " ")
	}
	return n
}

// taskMarker is about the marker of an item and the checkbox after it.
func taskMarker(s string, n int) int {
	end := itemMarker(s, n)
	if end > n && len(s) >= end+3 && s[end] == '[' && s[end+2] == ']' && (len(s) == end+3 || s[end+3] == ' ') {
		return Skip(s, end+3, " ")
	}
	return n
}

// itemMarker is about a bullet or a number.
func itemMarker(s string, n int) int {
	end := n
	switch digits := Skip(s, n, "0123456789"); {
	case n < len(s) && strings.IndexByte("-*+", s[n]) >= 0:
		end = n + 1
	case digits > n && digits < len(s) && (s[digits] == '.' || s[digits] == ')'):
		end = digits + 1
	default:
		return n
	}
	if end < len(s) && s[end] != ' ' && s[end] != '\t' {
		return n
	}
	return Skip(s, end, " \t")
}

// FenceLength returns the length of the code fence or math fence at the start of s.
func FenceLength(s string) int {
	for _, c := range []string{"`", "~"} {
		if n := Skip(s, 0, c); n >= 3 {
			return n
		}
	}
	if strings.HasPrefix(s, "$$") && strings.TrimRight(s, " ") == "$$" {
		return 2
	}
	return 0
}

// isRule reports whether a line consists of one kind of rule character: a thematic break, a setext underline, or the
// delimiter row of a table.
func isRule(s string) bool {
	s = strings.TrimRight(s, " \t")
	if len(s) < 3 {
		return false
	}
	for _, set := range []string{"- ", "* ", "_ ", "=", "|:- "} {
		if strings.Trim(s, set) == "" {
			return set != "|:- " || strings.Contains(s, "-")
		}
	}
	return false
}

// Skip returns the offset after the run of bytes of set that starts at offset i.
func Skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

func IsBlank(line string) bool { return Skip(line, 0, " \t\r") == len(line) }

// IsRow reports whether a line is a row of a table as most people write them.
func IsRow(s string) bool {
	i := Skip(s, 0, " \t")
	return i < len(s) && s[i] == '|'
}
