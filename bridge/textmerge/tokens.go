package textmerge

import (
	"regexp"
	"strings"
)

// Tokens counts the words, the delimiters of marks and the white space of a text.
type Tokens map[string]int

var anyToken = regexp.MustCompile(wordOrDelimiter.String() + `|\s`)

func CountTokens(text string) Tokens {
	t := make(Tokens)
	for _, token := range anyToken.FindAllString(text, -1) {
		t[token]++
	}
	return t
}

// Beyond returns the tokens that t has more often than other, and how much more often.
func (t Tokens) Beyond(other Tokens) Tokens {
	more := make(Tokens)
	for token, n := range t {
		if n > other[token] {
			more[token] = n - other[token]
		}
	}
	return more
}

// Meets reports whether both have some word or delimiter.
func (t Tokens) Meets(other Tokens) bool {
	for token := range t {
		if other[token] > 0 && strings.TrimSpace(token) != "" {
			return true
		}
	}
	return false
}

// Distance returns the number of bytes of the tokens in which t and other differ.
func (t Tokens) Distance(other Tokens) (n int) {
	for _, side := range []Tokens{t.Beyond(other), other.Beyond(t)} {
		for token, times := range side {
			n += times * len(token)
		}
	}
	return n
}
