// Package markdown finds the constructs of a line that a change leaves whole: its marker, and the tokens of its text. It
// reads a line by itself; of blocks it knows only the fences.
package markdown

import "strings"

// Marker is the part of a line that makes it what it is: indentation, quote marks, a heading's hashes, a bullet or
// number, a checkbox, a callout's type, a fence. Of a rule or a table's delimiter row it is the whole line.
// It returns the marker's length. Where the marker changes the whole line is replaced, since a mark in front of it
// or inside it would stop the line from being rendered as what it is.
func Marker(s string) int {
	n := Skip(s, 0, " \t")
	for n < len(s) && s[n] == '>' {
		n = Skip(s, n+1, " \t")
	}
	if n < len(s) && isLetter(s[n]) {
		return n // as most lines of prose: none of the following starts so
	}
	if strings.HasPrefix(s[n:], "[!") {
		if end := strings.IndexByte(s[n:], ']'); end > 0 {
			return Skip(s, n+end+1, "+- \t")
		}
	}
	if isRule(s[n:]) {
		return len(s)
	}
	if fence := FenceLength(s[n:]); fence > 0 {
		return n + fence
	}
	if hashes := Skip(s, n, "#"); hashes > n && hashes-n <= 6 && (hashes == len(s) || s[hashes] == ' ') {
		return Skip(s, hashes, " ")
	}
	return listMarker(s, n)
}

// listMarker returns the end of the bullet or number at offset n and the checkbox after it; n when there is none.
func listMarker(s string, n int) int {
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
	end = Skip(s, end, " \t")
	if len(s) >= end+3 && s[end] == '[' && s[end+2] == ']' && (len(s) == end+3 || s[end+3] == ' ') {
		end = Skip(s, end+3, " ")
	}
	return end
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
