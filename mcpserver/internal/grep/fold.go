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
		return rune(foldASCII(byte(r)))
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

func foldASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// Fold folds every rune separately. So if s contains t, Fold(s) contains Fold(t). It drops carriage returns, because \n in
// a pattern matches CRLF, too.
func Fold(s string) string { return string(appendFold(nil, s)) }

func appendFold(b []byte, s string) []byte {
	s = strings.ReplaceAll(s, "\r", "")
	for s != "" {
		ascii := 0
		for ascii < len(s) && s[ascii] < utf8.RuneSelf {
			ascii++
		}
		b = append(b, s[:ascii]...)
		folded := b[len(b)-ascii:]
		for i, c := range folded {
			folded[i] = foldASCII(c)
		}
		for s = s[ascii:]; s != "" && s[0] >= utf8.RuneSelf; {
			r, n := utf8.DecodeRuneInString(s)
			b = utf8.AppendRune(b, foldRune(r))
			s = s[n:]
		}
	}
	return b
}

func orbit(r rune) []rune {
	all := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all = append(all, f)
	}
	return all
}
