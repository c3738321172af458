package diffwrap

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// class says what a token is.
type class uint8

const (
	spaceToken   class = iota // one blank, or a line break
	wordToken                 // letters and digits
	glyphToken                // one character of a script that is written without spaces
	symbolToken               // one character of anything else, or a run of emphasis characters
	atomicToken               // a construct that a mark inside would break: see atomLength
	commentToken              // a CriticMarkup comment
)

// token is a piece of text that a change leaves whole. Its borders are borders of grapheme clusters.
type token struct {
	span.Span
	class class
}

// tokenize splits text[s.start:s.end] into tokens; comments are the spans of whole CriticMarkup comments in text.
func tokenize(text string, s span.Span, comments []span.Span) []token {
	tokens := make([]token, 0, s.Len()/4+1)
	for t := range tokensOf(text, s, comments) {
		tokens = append(tokens, t)
	}
	return tokens
}

// tokensOf is tokenize for who looks at each token once.
func tokensOf(text string, s span.Span, comments []span.Span) iter.Seq[token] {
	return func(yield func(token) bool) {
		for i := s.Start; i < s.End; {
			t := nextToken(text[:s.End], i, s.Start, comments)
			if !yield(t) {
				return
			}
			i = t.End
		}
	}
}

// nextToken reads the token at offset i of text; the line or piece it stands in starts at from.
func nextToken(text string, i, from int, comments []span.Span) token {
	if len(comments) == 0 {
		if t, ok := plainToken(text, i); ok {
			return t
		}
	}
	t := tokenAlone(text, i, from, comments)
	t.End = clusterBorder(text, t)
	return t
}

// plainToken reads a blank or a word at offset i, if it is ASCII and what follows decides nothing: most of prose. It
// agrees with tokenAlone.
func plainToken(text string, i int) (t token, ok bool) {
	end := i
	for end < len(text) && isAlnum[text[end]] {
		end++
	}
	if end == i {
		return token{span.New(i, i+1), spaceToken}, text[i] == ' ' && (i+1 == len(text) || text[i+1] < utf8.RuneSelf)
	}
	alone := end == len(text) || text[end] < utf8.RuneSelf && !mayJoin[text[end]]
	return token{span.New(i, end), wordToken}, alone
}

// mayJoin says which characters behind a word may belong to it, or make a URL of it.
var mayJoin = [utf8.RuneSelf]bool{'\'': true, '_': true, '.': true, ',': true, ':': true, '-': true, '/': true}

// isAlnum is isLetter or isDigit.
var isAlnum = func() (t [256]bool) {
	for c := range t {
		t[c] = isLetter(byte(c)) || isDigit(byte(c))
	}
	return t
}()

// tokenAlone is nextToken without what combines with its last character.
func tokenAlone(text string, i, from int, comments []span.Span) token {
	if c, ok := nextComment(comments, i); ok && c.Start == i && c.End <= len(text) {
		return token{c, commentToken}
	} else if ok {
		text = text[:min(len(text), c.Start)] // nothing else reaches into a comment
	}
	if n := atomLength(text, i, from); n > 0 {
		return token{span.New(i, i+n), atomicToken}
	}
	size, class := character(text, i)
	end := i + size
	switch {
	case text[i] == '\n' || text[i] == '\r':
		return token{span.New(i, i+max(1, len(lineBreak(text[i:])))), spaceToken}
	case class == wordToken:
		return word(text, i, end)
	case strings.IndexByte("*_~=", text[i]) >= 0:
		end = skip(text, i, text[i:i+1])
	case text[i] == '\\' && end < len(text) && text[end] < utf8.RuneSelf && text[end] > ' ':
		end++
	}
	return token{span.New(i, max(end, i+size)), class}
}

// nextComment returns the first comment that starts at or behind offset i.
func nextComment(comments []span.Span, i int) (span.Span, bool) {
	k, _ := slices.BinarySearchFunc(comments, i, func(c span.Span, off int) int { return c.Start - off })
	if k == len(comments) {
		return span.Span{}, false
	}
	return comments[k], true
}

// word reads the word at offset i, whose first character ends at end, or the URL that it turns out to start.
func word(text string, i, end int) token {
	for end < len(text) {
		if end+1 < len(text) && text[end+1] < utf8.RuneSelf && (isLetter(text[end]) || isDigit(text[end])) {
			end++ // as character says, in less time
			continue
		}
		size, class := character(text, end)
		if class != wordToken {
			joint := wordJoint(text, i, end)
			if joint == 0 {
				break
			}
			size = joint + 1
		}
		end += size
	}
	if strings.HasPrefix(text[end:], "://") {
		return token{span.New(i, end+urlLength(text[end:])), atomicToken}
	}
	return token{span.New(i, end), wordToken}
}

// wordJoint returns the length of the character at offset end if it stands between two characters of a word and
// belongs to it: an apostrophe between letters, an underscore, a separator between digits (3.14, 10:30, 2026-07-13).
func wordJoint(text string, i, end int) int {
	n := 1
	if strings.HasPrefix(text[end:], "\u2019") {
		n = len("\u2019")
	}
	if end == i || end+n >= len(text) {
		return 0
	}
	letters := isLetter(text[end-1]) && isLetter(text[end+n])
	digits := isDigit(text[end-1]) && isDigit(text[end+n])
	alnum := (isLetter(text[end-1]) || isDigit(text[end-1])) && (isLetter(text[end+n]) || isDigit(text[end+n]))
	switch {
	case text[end] == '\'' && letters, n > 1 && letters, text[end] == '_' && alnum:
		return n
	case strings.IndexByte(".,:-/", text[end]) >= 0 && digits:
		return n
	}
	return 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// character returns the length and class of the grapheme cluster at offset i.
func character(text string, i int) (int, class) {
	c := text[i]
	if c < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
		switch {
		case c == ' ' || c == '\t':
			return 1, spaceToken
		case isLetter(c) || isDigit(c):
			return 1, wordToken
		}
		return 1, symbolToken
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[i:], -1)
	first, _ := utf8.DecodeRuneInString(cluster)
	return len(cluster), classOf(first)
}

// classOf returns the class of a character by its first rune.
func classOf(r rune) class {
	switch {
	case r == ' ' || r == '\t':
		return spaceToken
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return glyphToken
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return wordToken
	}
	return symbolToken
}

// clusterBorder returns the end of a token, moved over what combines with the ASCII character that the token ends in: a
// combining mark or a joiner may follow the bracket that closes a link. Tokens that end otherwise were read by cluster.
func clusterBorder(text string, t token) int {
	if t.End == len(text) || text[t.End] < utf8.RuneSelf || text[t.End-1] >= utf8.RuneSelf {
		return t.End
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[t.End-1:], -1)
	return t.End - 1 + len(cluster)
}
