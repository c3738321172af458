package diffwrap

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// line is one line of a text, as offsets into it. A line owns the break before it, not the one after it: a run that
// adds or deletes whole lines then starts with a line break, and bullets, headings and table rows stay at the
// start of their lines.
type line struct {
	brk       int // where the break before the line starts; equal to start for the first line
	span.Span     // the line's text, without breaks
}

// splitLines splits text[from:to] into lines. Nothing is split inside an atom, such as a comment that spans lines.
func splitLines(text string, from, to int, atoms []span.Span) []line {
	lines := make([]line, 0, 1+strings.Count(text[from:to], "\n"))
	current := line{brk: from, Span: span.Span{Start: from}}
	for i := from; ; {
		at := strings.IndexByte(text[i:to], '\n')
		if at < 0 {
			break
		}
		at += i
		i = at + 1
		if a, inside := atomAround(atoms, at); inside {
			i = a.End
			continue
		}
		current.End = breakStart(text, at, from)
		lines = append(lines, current)
		current = line{brk: current.End, Span: span.Span{Start: at + 1}}
	}
	current.End = to
	return append(lines, current)
}

// breakStart returns where the line break starts that has its line feed at offset at: one byte earlier for CR LF.
func breakStart(text string, at, from int) int {
	if at > from && text[at-1] == '\r' {
		return at - 1
	}
	return at
}

// atomAround returns the atom that off lies in. Atoms are sorted.
func atomAround(atoms []span.Span, off int) (span.Span, bool) {
	lo, hi := 0, len(atoms)
	for lo < hi {
		if mid := (lo + hi) / 2; atoms[mid].End <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(atoms) && atoms[lo].Start <= off {
		return atoms[lo], true
	}
	return span.Span{}, false
}

// lineBreak returns the line break at the start of s, "" when there is none.
func lineBreak(s string) string {
	switch {
	case strings.HasPrefix(s, "\n"):
		return "\n"
	case strings.HasPrefix(s, "\r\n"):
		return "\r\n"
	}
	return ""
}

// lineMarker is the part of a line that makes it what it is: indentation, quote marks, a heading's hashes, a bullet or
// number, a checkbox, a callout's type, a fence. Of a rule or a table's delimiter row it is the whole line.
// It returns the marker's length. Where the marker changes the whole line is replaced, since a mark in front of it
// or inside it would stop the line from being rendered as what it is.
func lineMarker(s string) int {
	n := skip(s, 0, " \t")
	for n < len(s) && s[n] == '>' {
		n = skip(s, n+1, " \t")
	}
	if n < len(s) && isLetter(s[n]) {
		return n // as most lines of prose: none of the following starts so
	}
	if strings.HasPrefix(s[n:], "[!") {
		if end := strings.IndexByte(s[n:], ']'); end > 0 {
			return skip(s, n+end+1, "+- \t")
		}
	}
	if isRule(s[n:]) {
		return len(s)
	}
	if fence := fenceLength(s[n:]); fence > 0 {
		return n + fence
	}
	if hashes := skip(s, n, "#"); hashes > n && hashes-n <= 6 && (hashes == len(s) || s[hashes] == ' ') {
		return skip(s, hashes, " ")
	}
	return listMarker(s, n)
}

// listMarker returns the end of the bullet or number at offset n and the checkbox after it; n when there is none.
func listMarker(s string, n int) int {
	end := n
	switch digits := skip(s, n, "0123456789"); {
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
	end = skip(s, end, " \t")
	if len(s) >= end+3 && s[end] == '[' && s[end+2] == ']' && (len(s) == end+3 || s[end+3] == ' ') {
		end = skip(s, end+3, " ")
	}
	return end
}

// fenceLength returns the length of the code fence or math fence at the start of s.
func fenceLength(s string) int {
	for _, c := range []string{"`", "~"} {
		if n := skip(s, 0, c); n >= 3 {
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

// skip returns the offset after the run of bytes of set that starts at offset i.
func skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}
