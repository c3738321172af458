package outline

import "unicode"

// Count returns the number of words and of Unicode characters of a text. A word is a run of characters without white
// space that has a letter or a digit; each character of a script without spaces is a word.
func Count(text string) (words, chars int) {
	word := false // the current run was counted
	for _, r := range text {
		chars++
		switch {
		case Unspaced(r):
			words++
			word = false
		case r <= ' ' || unicode.IsSpace(r):
			word = false
		case !word && (unicode.IsLetter(r) || unicode.IsNumber(r)):
			word = true
			words++
		}
	}
	return words, chars
}

// Unspaced reports whether r belongs to a script without spaces between words: Chinese and Japanese.
func Unspaced(r rune) bool {
	return r >= 0x3040 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}
