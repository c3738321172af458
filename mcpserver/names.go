package mcpserver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/relayfs/relayfs/bridge"
)

// Names of files may hold any character, and a line break among them would make
// one line of a result look like two. What a model is shown has such characters
// escaped as in Go; what it gives back is taken either way.

// shown is a path, or another name, as it stands in a result.
func shown[S ~string](name S) string {
	if strings.IndexFunc(string(name), unprintable) < 0 {
		return string(name)
	}
	var b strings.Builder
	for _, r := range string(name) {
		switch {
		case !unprintable(r):
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

// unprintable characters break a line, or change how the rest of it looks: those
// of Unicode's categories Cc, Zl and Zp, and the explicit directions of text.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}

// meant is the name that was shown as s.
func meant(s string) string {
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
		if _, err := fmt.Sscanf(s[2:6], "%04x", &r); err == nil && unprintable(r) {
			return r, 6
		}
	}
	return utf8.DecodeRuneInString(s)
}

// maxNewPath is how long the path of a new document may be: the least that some
// system sets for all of a path, with the vault's own before it, is 1,024 bytes.
const maxNewPath = 800

// checkNew refuses names for new documents that people would not see, or could
// not tell from others, or not open.
func checkNew(p bridge.Path) error {
	_, rel := p.Split()
	if len(p) > maxNewPath {
		return wrongArgument("The path %q is too long: a new one has at most %d bytes. Choose another.", strings.ToValidUTF8(string(p[:64]), "")+"...", maxNewPath)
	}
	for elem := range strings.SplitSeq(rel, "/") {
		switch {
		case strings.HasPrefix(elem, "."):
			return wrongArgument("The path %q is not allowed: people are not shown names that begin with a dot. Choose another name.", string(p))
		case strings.IndexFunc(elem, unprintable) >= 0:
			return wrongArgument("The path %q is not allowed: it has a control character in it. Choose another name.", string(p))
		}
	}
	return nil
}
