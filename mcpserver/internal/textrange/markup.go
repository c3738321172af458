package textrange

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
)

// delimiters open suggestions and highlights. Comments are allowed.
var delimiters = []string{"{++", "{--", "{~~", "{=="}

// newMarkup finds a delimiter that is more frequent in after than in before and opens a mark on a new line.
func newMarkup(before, after string) (delimiter string, off int, found bool) {
	for _, d := range delimiters {
		if strings.Count(after, d) <= strings.Count(before, d) {
			continue
		}
		literals := diffwrap.LiteralsOf(after)
		for _, p := range NonOverlapping(findExact(after, d, nil)) {
			shared := strings.HasPrefix(after[p.Start+len(d):], "}") // {++} is text
			if !shared && !literals.Has(p.Start) && !hasLine(before, LineAround(after, p.Start)) {
				return d, p.Start, true
			}
		}
	}
	return "", 0, false
}

func hasLine(doc, line string) bool {
	return strings.Contains("\n"+doc+"\n", "\n"+line+"\n")
}

// CheckMarkup returns an error if a change introduces CriticMarkup. argument names the argument with the new text,
// which begins at offset begin of after; the error counts lines from there. The raw view allows marks.
func CheckMarkup(argument string, view diffwrap.View, before, after string, begin int) error {
	if view == diffwrap.RawView {
		return nil
	}
	d, off, found := newMarkup(before, after)
	if !found {
		return nil
	}
	line := LineOf(after, off) - LineOf(after, begin) + 1
	return result.InvalidArgument("The argument %q contains '%s' at line %d, which would be read as a suggestion. Suggestions are made automatically; write plain text.",
		argument, d, max(line, 1))
}
