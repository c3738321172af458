package answer

import (
	"strings"
	"unicode/utf8"
)

// Cost is how much of an answer the Result takes.
func (r Result) Cost() int {
	n := Envelope + len(r.Structured) + 5*htmlCount(string(r.Structured))
	for _, b := range r.Text {
		n += TextCost(b) + 32
	}
	return n
}

// TextCost is how long s is as a string in JSON.
func TextCost(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c, size := charCost(s[i:])
		n, i = n+c, i+size
	}
	return n
}

// charCost is how long the first character of s is in JSON, and how long in s.
func charCost(s string) (cost, size int) {
	switch c := s[0]; {
	case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
		return 2, 1
	case c < ' ' || c == '<' || c == '>' || c == '&':
		return 6, 1
	case c < utf8.RuneSelf:
		return 1, 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError || r == '\u2028' || r == '\u2029' {
		return 6, size
	}
	return size, size
}

// BothCost is how much of an answer v takes within a structured result, which has
// it as JSON and again as text, where each escape is escaped.
func BothCost(v any) int {
	raw := PlainJSON(v)
	return TextCost(raw) + len(raw) + 5*htmlCount(raw)
}

// htmlCount counts the characters that encoding/json escapes for HTML's sake.
func htmlCount(s string) int {
	return strings.Count(s, "<") + strings.Count(s, ">") + strings.Count(s, "&")
}
