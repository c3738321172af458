package answer

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const (
	// Max bounds the answer to a call, in bytes of JSON, text and structured content together. Clients show a
	// model only the first lines of a longer one.
	Max = 40_000
	// Envelope is the most that the protocol adds to an answer, in bytes.
	Envelope = 600
	// MaxMatch bounds one match in an answer with the lines around it, as a cost.
	MaxMatch = 30_000
	// MaxLine is how many characters of a line a search shows.
	MaxLine = 2000
)

// Cost returns the length of the Result as an answer, in bytes of JSON.
func (r Result) Cost() int {
	n := Envelope + len(r.Structured) + 5*htmlCount(string(r.Structured))
	for _, b := range r.Text {
		n += TextCost(b) + 32
	}
	return n
}

// TextCost returns the length of s as a string in JSON, without the quotes.
func TextCost(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c, size := charCost(s[i:])
		n, i = n+c, i+size
	}
	return n
}

// charCost returns the length of the first character of s in JSON, and its length in s.
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

// BothCost returns the cost of v in a structured result, which holds v as JSON and again as escaped text.
func BothCost(v any) int {
	raw := PlainJSON(v)
	return TextCost(raw) + len(raw) + 5*htmlCount(raw)
}

// htmlCount counts the characters that encoding/json escapes for the sake of HTML.
func htmlCount(s string) int {
	return strings.Count(s, "<") + strings.Count(s, ">") + strings.Count(s, "&")
}

// FirstThatFit returns the longest beginning of s that costs at most limit.
func FirstThatFit(s string, limit int) (short string, cut bool) {
	n := 0
	for i := 0; i < len(s); {
		c, size := charCost(s[i:])
		if n += c; n > limit {
			return s[:i], true
		}
		i += size
	}
	return s, false
}

// JoinBounded joins the first n lines, as many as cost at most limit. It joins at least
// one, which it cuts if that line alone costs too much.
func JoinBounded(lines []string, limit int) (joined string, n int) {
	cost := 0
	for ; n < len(lines); n++ {
		if cost += TextCost(lines[n]) + 2; cost > limit {
			break
		}
	}
	if n == 0 && len(lines) > 0 {
		short, _ := FirstThatFit(lines[0], limit-100)
		return short + fmt.Sprintf("... [line cut, %d bytes]", len(lines[0])), 1
	}
	return strings.Join(lines[:n], "\n"), n
}

// Fit returns build(m) for the largest m, at most n, with which the structured result is
// no longer than an answer. m is at least 1 if n is.
func Fit[R any](n int, build func(m int) R) R {
	n = min(n, Max/20) // no item is shorter
	fitting := sort.Search(n, func(i int) bool { return JSON(build(i+1)).Cost() > Max })
	return build(max(fitting, min(n, 1)))
}
