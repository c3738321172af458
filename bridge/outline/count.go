package outline

import (
	"unicode"
	"unicode/utf8"
)

// Count returns the number of words and of Unicode characters of a text. A word is
// a run of characters without white space that holds a letter or a digit; each
// character of a script that is written without spaces is one.
func Count(text string) (words, chars int) {
	word := false // in a run that has been counted
	for i := 0; i < len(text); {
		c := text[i]
		chars++
		if c < utf8.RuneSelf {
			i++
			switch {
			case c <= ' ':
				word = false
			case !word && isAlnum(c):
				word = true
				words++
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch {
		case Unspaced(r):
			words++
			word = false
		case unicode.IsSpace(r):
			word = false
		case !word && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			word = true
			words++
		}
	}
	return words, chars
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Unspaced says that r is of a script that is written without spaces between
// words: Chinese and Japanese.
func Unspaced(r rune) bool {
	return r >= 0x3040 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
