package markdown

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

type Class uint8

const (
	Space   Class = iota // one blank, or a line break
	Word                 // letters and digits
	Glyph                // one character or syllable of a script without spaces
	Symbol               // any other single character, or a run of emphasis characters
	Atom                 // a construct that would be broken by a mark inside; see Constructs
	Comment              // a CriticMarkup comment
)

// Token is a piece of text that a readable change never splits. Its ends are grapheme cluster boundaries.
type Token struct {
	span.Span
	Class Class
}

// Tokens splits a range of text into tokens. comments are the spans of whole CriticMarkup comments in text.
func Tokens(text string, s span.Span, comments []span.Span) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		for i := s.Start; i < s.End; {
			t := Next(text[:s.End], i, s.Start, comments)
			if !yield(t) {
				return
			}
			i = t.End
		}
	}
}

// Next reads the token at offset i of text. from is the offset at which the line or piece starts.
func Next(text string, i, from int, comments []span.Span) Token {
	if len(comments) == 0 && !followsLabel(text, i) {
		if t, ok := plainToken(text, i); ok {
			return t
		}
	}
	t := tokenAlone(text, i, from, comments)
	t.End = clusterBorder(text, t)
	return t
}

// plainToken reads an ASCII blank or word at offset i if the following character cannot extend it, which is common in
// prose. It returns the same token as tokenAlone.
func plainToken(text string, i int) (t Token, ok bool) {
	end := i
	for end < len(text) && isAlnum[text[end]] {
		end++
	}
	if end == i {
		return Token{span.New(i, i+1), Space}, text[i] == ' ' && (i+1 == len(text) || text[i+1] < utf8.RuneSelf)
	}
	alone := end == len(text) || text[end] < utf8.RuneSelf && !mayJoin[text[end]]
	return Token{span.New(i, end), Word}, alone
}

// mayJoin is set for the characters after a word that may continue it or turn it into a URL.
var mayJoin = func() (t [utf8.RuneSelf]bool) {
	t[':'] = true
	for _, j := range Joints {
		for _, c := range j.chars {
			if c < utf8.RuneSelf {
				t[c] = true
			}
		}
	}
	return t
}()

var isAlnum = func() (t [256]bool) {
	for c := range t {
		t[c] = isWordByte(byte(c))
	}
	return t
}()

// tokenAlone is Next without the combining characters after the token.
func tokenAlone(text string, i, from int, comments []span.Span) Token {
	if c, ok := NextComment(comments, i); ok && c.Start == i && c.End <= len(text) {
		return Token{c, Comment}
	} else if ok {
		text = text[:min(len(text), c.Start)] // other tokens end before a comment
	}
	if mayStart[text[i]] {
		if t, ok := construct(text, i, from); ok {
			return t
		}
	}
	if followsLabel(text, i) {
		for _, c := range Destinations {
			if n := c.length(text, i, from); n > 0 {
				return Token{span.New(i, i+n), c.class}
			}
		}
	}
	size, class := character(text, i)
	end := i + size
	switch class {
	case Word:
		return word(text, i, end)
	case Glyph:
		end = syllable(text, i, end)
	}
	return Token{span.New(i, end), class}
}

func NextComment(comments []span.Span, i int) (span.Span, bool) {
	k, _ := slices.BinarySearchFunc(comments, i, func(c span.Span, off int) int { return c.Start - off })
	if k == len(comments) {
		return span.Span{}, false
	}
	return comments[k], true
}

// word reads the word at offset i, whose first character ends at end, or the URL that starts with it.
func word(text string, i, end int) Token {
	for end < len(text) {
		size, class := character(text, end)
		if class != Word {
			joint := wordJoint(text, i, end)
			if joint == 0 {
				break
			}
			size = joint + 1
		}
		end += size
	}
	if strings.HasPrefix(text[end:], "://") {
		return Token{span.New(i, end+urlLength(text[end:])), Atom}
	}
	return Token{span.New(i, end), Word}
}

// Joint is a rule about a character that belongs to a word if characters of the word are on both sides of it.
type Joint struct {
	Name    string
	chars   string
	between func(c byte) bool
}

var Joints = []Joint{
	{"apostrophes", "'\u2019", isLetter},
	{"underscores", "_", isWordByte},
	{"numbers", ".,:-/", isDigit},
}

// wordJoint returns the length of the character at offset end if it belongs to the word that starts at offset i.
func wordJoint(text string, i, end int) int {
	r, n := utf8.DecodeRuneInString(text[end:])
	if end == i || end+n >= len(text) {
		return 0
	}
	for _, j := range Joints {
		if strings.ContainsRune(j.chars, r) && j.between(text[end-1]) && j.between(text[end+n]) {
			return n
		}
	}
	return 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }

// character returns the length and Class of the grapheme cluster at offset i.
func character(text string, i int) (int, Class) {
	if c := text[i]; c < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
		return 1, classOf(rune(c))
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[i:], -1)
	first, _ := utf8.DecodeRuneInString(cluster)
	return len(cluster), classOf(first)
}

func classOf(r rune) Class {
	switch {
	case r == ' ' || r == '\t':
		return Space
	case r < utf8.RuneSelf && isAlnum[r]:
		return Word
	case r < utf8.RuneSelf:
		return Symbol
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return Glyph
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		return Word
	}
	return Symbol
}

func InWord(r rune) bool { return classOf(r) == Word }

// LastWord returns the word at the end of a text. It leaves out an escaped letter, and leading characters that only
// modify the symbol before them.
func LastWord(text string) string {
	head := strings.TrimRightFunc(text, InWord)
	word := text[len(head):]
	if backslashes := len(head) - len(strings.TrimRight(head, "\\")); backslashes%2 == 1 && word != "" {
		_, n := utf8.DecodeRuneInString(word)
		word = word[n:]
	}
	return strings.TrimLeftFunc(word, unicode.IsMark)
}

// JoinsWord reports whether a word continues from one text to the next.
func JoinsWord(before, after string) bool {
	r, _ := utf8.DecodeRuneInString(after)
	return after != "" && InWord(r) && LastWord(before) != ""
}

// clusterBorder returns the end of a token, including combining characters after its last ASCII character: a combining
// mark or a joiner may follow the bracket that closes a link. Other tokens already end at a cluster boundary.
func clusterBorder(text string, t Token) int {
	if t.End == len(text) || text[t.End] < utf8.RuneSelf || text[t.End-1] >= utf8.RuneSelf {
		return t.End
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[t.End-1:], -1)
	return t.End - 1 + len(cluster)
}

func ClusterLength(s string) int {
	if n := span.BreakLen(s); n > 0 {
		return n
	}
	n, _ := character(s, 0)
	return n
}

// IsWord reports whether a token counts as a word. Blanks and punctuation do not.
func (t Token) IsWord() bool { return t.Class != Space && t.Class != Symbol }
