package textrange

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/mcpserver/internal/result"
)

// delimiters open suggestions and highlights. Comments are not included, because they are allowed.
var delimiters = []string{"{++", "{--", "{~~", "{=="}

// newMarkup finds a delimiter that occurs more often after a change than before the change. It ignores delimiters in
// literal text, such as code, and on lines that existed before the change.
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

type Argument struct {
	Name result.Words
	Text string
}

// CheckMarkup returns an error if a change introduces CriticMarkup. arg is the new text. The changed document contains
// arg from offset begin on, perhaps in several places and with other blanks and line breaks. The raw view allows marks.
func CheckMarkup(arg Argument, view diffwrap.View, before, after string, begin int) error {
	if view == diffwrap.RawView {
		return nil
	}
	d, off, found := newMarkup(before, after)
	if !found {
		return nil
	}
	earlier := strings.Count(after[min(begin, off):off], d) % max(1, strings.Count(arg.Text, d))
	return result.InvalidArgument("The argument %q contains '%s' at line %d, which would be read as a suggestion. Suggestions are made automatically; write plain text.",
		arg.Name, d, lineOfNth(arg.Text, d, earlier))
}

// lineOfNth returns the 1-based line of occurrence n of s, counted from 0. It returns 1 if there is no such occurrence.
func lineOfNth(text, s string, n int) int {
	parts := strings.SplitN(text, s, n+2)
	if len(parts) < n+2 {
		return 1
	}
	return LineOf(text, len(text)-len(parts[n+1])-len(s))
}
