package passage

import (
	"regexp"
	"slices"
	"strings"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/diffwrap/block"
	"github.com/relayfs/relayfs/mcpserver/internal/answer"
)

// delimiters open what CriticMarkup reads as a suggestion or a highlight. Comments are allowed.
var delimiters = []string{"{++", "{--", "{~~", "{=="}

// newMarkup finds a delimiter that occurs more often in after than in before, outside of code, on a line that
// before lacks. Code may hold any text, but in prose a delimiter would begin a suggestion.
func newMarkup(before, after string) (delimiter string, off int, found bool) {
	var code []Place
	for _, d := range delimiters {
		if strings.Count(after, d) <= strings.Count(before, d) {
			continue
		}
		if code == nil {
			code = append(codeIn(after), Place{Start: len(after), End: len(after)})
		}
		for _, p := range Apart(findExact(after, d, nil)) {
			if !inside(code, p.Start) && !hasLine(before, LineAround(after, p.Start)) {
				return d, p.Start, true
			}
		}
	}
	return "", 0, false
}

func inside(places []Place, off int) bool {
	i, _ := slices.BinarySearchFunc(places, off, func(p Place, off int) int { return p.End - off - 1 })
	return i < len(places) && places[i].Start <= off
}

func hasLine(doc, line string) bool {
	return strings.Contains("\n"+doc+"\n", "\n"+line+"\n")
}

// codeIn returns the fenced code blocks and code spans in doc, after CommonMark without containers.
func codeIn(doc string) []Place {
	var code []Place
	fence, begin, off := "", 0, 0
	for line := range strings.Lines(doc) {
		end := off + len(line)
		mark := fenceOf(line)
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) && strings.TrimSpace(strings.TrimLeft(line, " \t>"+fence[:1])) == "" {
				code = append(code, Place{Start: begin, End: end})
				fence = ""
			}
		case mark != "":
			fence, begin = mark, off
		default:
			code = append(code, codeSpans(line, off)...)
		}
		off = end
	}
	if fence != "" {
		code = append(code, Place{Start: begin, End: len(doc)})
	}
	return code
}

// fenceOf returns the run of at least three backticks or tildes at the beginning of line, or "".
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t>")
	return line[:block.Fence(line)]
}

var backticks = regexp.MustCompile("`+")

// codeSpans returns the code spans of a line, which begins at off: from a run of backticks to the next of its length.
func codeSpans(line string, off int) []Place {
	var spans []Place
	for runs := backticks.FindAllStringIndex(line, -1); len(runs) > 0; {
		open := runs[0]
		runs = runs[1:]
		i := slices.IndexFunc(runs, func(r []int) bool { return r[1]-r[0] == open[1]-open[0] })
		if i >= 0 {
			spans = append(spans, Place{Start: off + open[0], End: off + runs[i][1]})
			runs = runs[i+1:]
		}
	}
	return spans
}

// CheckMarkup returns an error if a change introduces CriticMarkup. argument names the argument
// with the new text, which begins at offset begin of after; the error counts lines from there.
// In the raw view marks are allowed.
func CheckMarkup(argument string, view diffwrap.View, before, after string, begin int) error {
	if view == diffwrap.RawView {
		return nil
	}
	d, off, found := newMarkup(before, after)
	if !found {
		return nil
	}
	line := LineOf(after, off) - LineOf(after, begin) + 1
	return answer.WrongArgument("The argument %q contains '%s' at line %d, which would be read as a suggestion. Suggestions are made automatically; write plain text.",
		argument, d, max(line, 1))
}
