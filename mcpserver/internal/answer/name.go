package answer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Names of files may hold any character, and a line break among them would make
// one line of a result look like two. What a model is shown has such characters
// escaped as in Go; what it gives back is taken either way.

// Shown is a path, or another name, as it stands in a result.
func Shown[S ~string](name S) string {
	if strings.IndexFunc(string(name), Unprintable) < 0 {
		return string(name)
	}
	var b strings.Builder
	for _, r := range string(name) {
		switch {
		case !Unprintable(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Unprintable characters break a line, or change how the rest of it looks: those
// of Unicode's categories Cc, Zl and Zp, and the explicit directions of text.
func Unprintable(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// Meant is the name that was shown as s.
func Meant(s string) string {
	var b strings.Builder
	for s != "" {
		r, n := escaped(s)
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// escaped is the character that s begins with, and the length of how shown
// writes it.
func escaped(s string) (rune, int) {
	for esc, r := range map[string]rune{`\n`: '\n', `\r`: '\r', `\t`: '\t'} {
		if strings.HasPrefix(s, esc) {
			return r, len(esc)
		}
	}
	var r rune
	if len(s) >= 6 && strings.HasPrefix(s, `\u`) {
		if _, err := fmt.Sscanf(s[2:6], "%04x", &r); err == nil && Unprintable(r) {
			return r, 6
		}
	}
	return utf8.DecodeRuneInString(s)
}
