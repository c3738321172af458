package schema

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// wellFormed says whether a JSON string stands for text: it is UTF-8, and its
// escapes of surrogates come in pairs. encoding/json puts U+FFFD for what does not,
// which a tool would then write into a note.
func wellFormed(value []byte) bool {
	if !utf8.Valid(value) {
		return false
	}
	for i := 0; i < len(value); i++ {
		if value[i] != '\\' {
			continue
		}
		r := unitAt(value[i:])
		switch {
		case !utf16.IsSurrogate(r):
			i++ // whatever is escaped is one byte at least
		case utf16.DecodeRune(r, unitAt(value[min(i+6, len(value)):])) == utf8.RuneError:
			return false
		default:
			i += 11
		}
	}
	return true
}

// unitAt is the UTF-16 unit of the escape \uXXXX that s begins with, or 0.
func unitAt(s []byte) rune {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}
