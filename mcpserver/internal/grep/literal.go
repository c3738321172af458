package grep

import "strings"

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

// rarity is higher for a byte that is rarer in notes. The lead bytes of other scripts are
// as frequent there as letters are here.
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
