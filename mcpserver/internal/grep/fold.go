package grep

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// foldRune maps all runes that are equal under simple case folding ("(?i)") to one of them: the ASCII rune in lower
// case if there is one, otherwise the smallest. It maps all digits that are not ASCII to 0, so that \d has only ten.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if unicode.IsDigit(r) {
		return '0'
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

// Fold folds every rune separately. So if s contains t, Fold(s) contains Fold(t).
func Fold(s string) string { return strings.Map(foldRune, s) }

func AppendFold(dst []byte, s string) []byte {
	for s != "" {
		n := asciiPrefix(s)
		begin := len(dst)
		dst = append(dst, s[:n]...)
		lowerASCII(dst[begin:])
		for s = s[n:]; s != "" && s[0] >= utf8.RuneSelf; {
			r, size := utf8.DecodeRuneInString(s)
			dst = utf8.AppendRune(dst, foldRune(r))
			s = s[size:]
		}
	}
	return dst
}

func asciiPrefix(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

func lowerASCII(b []byte) {
	for i, c := range b {
		if c-'A' < 26 {
			b[i] = c + 'a' - 'A'
		}
	}
}

func orbit(r rune) []rune {
	all := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all = append(all, f)
	}
	return all
}
