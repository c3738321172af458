package schema

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// wellFormed reports whether a JSON string is text: it is UTF-8, and escaped surrogates come in
// pairs. encoding/json decodes anything else as U+FFFD, which a tool would then write into a
// note.
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
			i++ // skip the escaped byte
		case utf16.DecodeRune(r, unitAt(value[min(i+6, len(value)):])) == utf8.RuneError:
			return false
		default:
			i += 11
		}
	}
	return true
}

// unitAt returns the UTF-16 unit of the escape \uXXXX at the beginning of s, or 0.
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
