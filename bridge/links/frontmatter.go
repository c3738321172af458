package links

import "strings"

// frontMatter finds the links in the front matter and returns where the body
// begins. Front matter opens with "---" on the first line and ends at the next such
// line; without an end there is none.
func (s *scanner) frontMatter() (body int) {
	off := 0
	if strings.HasPrefix(s.text, "\ufeff") {
		off = len("\ufeff")
	}
	if !s.ruleAt(off) {
		return off
	}
	begin := s.lineEnd(off)
	for off = begin; off < len(s.text); off = s.lineEnd(off) {
		if s.ruleAt(off) {
			s.yaml(begin, off)
			return s.lineEnd(off)
		}
	}
	return 0
}

// ruleAt says whether the line at off is "---".
func (s *scanner) ruleAt(off int) bool {
	return strings.TrimRight(s.text[off:s.lineEnd(off)], " \t\r\n") == "---"
}

// yaml finds the links in the quoted strings of text[from:to]. Unquoted, "[[N]]"
// is a list in a list, and no link. A quote opens a string only where a value may
// begin, so an apostrophe in a plain value is a letter.
func (s *scanner) yaml(from, to int) {
	begins := true // a value may begin here
	for i := from; i < to; i++ {
		switch c := s.text[i]; c {
		case '"', '\'':
			if begins {
				i = s.quoted(i, to)
			}
			begins = false
		case '#':
			if i == from || strings.IndexByte(" \t\n", s.text[i-1]) >= 0 {
				i = s.lineEnd(i) - 1
				begins = true
			}
		case '\n', '[', '{', ',':
			begins = true
		case ' ', '\t':
			if i > from && strings.IndexByte(":-?", s.text[i-1]) >= 0 {
				begins = true
			}
		default:
			begins = false
		}
	}
}

// quoted scans the YAML string that opens at i and returns the offset of its
// closing quote, or to.
func (s *scanner) quoted(i, to int) int {
	quote := s.text[i]
	for j := i + 1; j < to; j++ {
		switch {
		case quote == '"' && s.text[j] == '\\':
			j++
		case quote == '\'' && s.text[j] == quote && j+1 < to && s.text[j+1] == quote:
			j++
		case s.text[j] == quote:
			s.inline(i+1, j)
			return j
		}
	}
	return to
}
