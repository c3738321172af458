package grep

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// literal is a text to search for. The search looks for its rarest byte, which skips more
// of a text at a time than its first byte does.
type literal struct {
	text string
	rare int // offset of that byte
}

func newLiteral(text string) literal {
	l := literal{text: text}
	for i := range len(text) {
		if rarity(text[i]) > rarity(text[l.rare]) {
			l.rare = i
		}
	}
	return l
}

// common are the most frequent bytes of prose, the most frequent first: the letters of
// European languages, spaces and line breaks.
const common = " etaonisrhldcumfpgwyb\n.,v-k*`'[]()/"

// rarity is higher for a byte that is rarer in notes. Lead bytes of other scripts are as frequent as letters.
func rarity(c byte) int {
	if i := strings.IndexByte(common, c); i >= 0 {
		return i
	}
	if c >= 0xc0 {
		return 2
	}
	return len(common)
}

// index is strings.Index(text, l.text).
func (l literal) index(text string) int {
	if l.text == "" {
		return 0
	}
	failed := 0
	for from := 0; ; failed++ {
		if failed > (from+16)/8 {
			// The byte is everywhere: comparing whole words of memory is faster.
			if i := strings.Index(text[from:], l.text); i >= 0 {
				return from + i
			}
			return -1
		}
		if len(text)-from < len(l.text) {
			return -1
		}
		i := strings.IndexByte(text[from+l.rare:], l.text[l.rare])
		if i < 0 {
			return -1
		}
		if from += i; strings.HasPrefix(text[from:], l.text) {
			return from
		}
		from++
	}
}

// foldRune maps all runes that are equal under simple case folding, the meaning of "(?i)",
// to one: the smallest lower-case one, so that ASCII letters fold to ASCII letters.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
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

// Fold folds every rune of s by itself: if s contains t, Fold(s) contains Fold(t).
func Fold(s string) string { return strings.Map(foldRune, s) }

// AppendFold appends Fold(s) to dst.
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

// orbit returns r and the runes that are equal to it under simple case folding.
func orbit(r rune) []rune {
	all := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		all = append(all, f)
	}
	return all
}
