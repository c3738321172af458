package result

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A file name may contain any character. A line break in a name would make one line look like two. Results therefore
// escape such characters in the same way as Go. Arguments may contain escaped or unescaped names.

var shortEscapes = map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`}

func Escape[S ~string](name S) string {
	if strings.IndexFunc(string(name), Unprintable) < 0 {
		return string(name)
	}
	var b strings.Builder
	for _, r := range string(name) {
		switch short, ok := shortEscapes[r]; {
		case ok:
			b.WriteString(short)
		case Unprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Unprintable reports whether r is a control character, breaks a line or changes the direction of text.
func Unprintable(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

func Unescape(s string) string {
	var b strings.Builder
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if c, _, rest, err := strconv.UnquoteChar(s, 0); err == nil && strings.TrimSuffix(s, rest) == Escape(string(c)) {
			r, n = c, len(s)-len(rest)
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

const Ellipsis = "[...]"

// maxSide is the maximum number of words of the old and new text in a preview.
const maxSide = 10

// OneLine escapes line breaks, and omits the middle of a long text.
func OneLine(s string) string {
	words := strings.SplitAfter(s, " ")
	if len(words) > maxSide {
		s = strings.Join(words[:maxSide/2], "") + Ellipsis + " " + strings.Join(words[len(words)-maxSide/2:], "")
	}
	if runes := []rune(s); len(runes) > 40*maxSide {
		s = string(runes[:20*maxSide]) + Ellipsis + string(runes[len(runes)-20*maxSide:])
	}
	return EscapeBreaks(s)
}

func EscapeBreaks(s string) string { return strings.NewReplacer("\r\n", `\n`, "\n", `\n`).Replace(s) }

// ListNames lists the first names; most is the maximum number of listed names. It then adds the number of the remaining
// names, with noun as the word for one of them.
func ListNames[S ~string](names []S, most int, noun string) string {
	var list []string
	for _, name := range names[:min(most, len(names))] {
		list = append(list, Escape(name))
	}
	if n := len(names) - most; n > 0 {
		list = append(list, Count(n, "more "+noun))
	}
	return strings.Join(list, ", ")
}

func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Strings converts list to strings. It never returns nil, so that the JSON has a list.
func Strings[S ~string](list []S) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}
