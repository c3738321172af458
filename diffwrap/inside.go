package diffwrap

import (
	"strings"

	"github.com/relayfs/relayfs/diffwrap/internal/critic"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/span"
)

// CommentsAfterConstructs returns the written text, with the comments inside links and other indivisible constructs
// moved after these constructs. Otherwise a suggestion would replace the whole construct, and a decision on the
// suggestion would remove the comment. A comment that is also inside a construct in shown stays there.
func CommentsAfterConstructs(shown, written string) string {
	if !strings.Contains(written, "{>>") && !strings.Contains(written, "{{") {
		return written
	}
	moved := insideConstructs(written)
	if len(moved) == 0 {
		return written
	}
	kept := make(map[string]int)
	for _, c := range insideConstructs(shown) {
		kept[c.Of(shown)]++
	}
	var b strings.Builder
	at := 0
	var waiting []insideConstruct
	flush := func(to int) {
		for len(waiting) > 0 && waiting[0].end <= to {
			b.WriteString(written[at:max(at, waiting[0].end)])
			at = max(at, waiting[0].end)
			b.WriteString(waiting[0].Of(written))
			waiting = waiting[1:]
		}
		b.WriteString(written[at:to])
		at = to
	}
	for _, c := range moved {
		if s := c.Of(written); kept[s] > 0 {
			kept[s]--
			continue
		}
		flush(c.Start)
		at = c.End
		waiting = append(waiting, c)
	}
	flush(len(written))
	return b.String()
}

// insideConstruct is a comment inside a construct that ends at end.
type insideConstruct struct {
	span.Span
	end int
}

// insideConstructs finds the comments inside the constructs of a text. It looks for the constructs in the text without
// the comments.
func insideConstructs(text string) (list []insideConstruct) {
	var comments []span.Span
	var offs []int // offset of each comment in the text without comments
	var plain strings.Builder
	at := 0
	body, _ := FrontMatter(text)
	for _, c := range critic.Parse(text, critic.Known{}).Cells {
		if c.Kind == critic.Comment && c.Start >= body {
			plain.WriteString(text[at:c.Start])
			comments, offs, at = append(comments, c.Span), append(offs, plain.Len()), c.End
		}
	}
	plain.WriteString(text[at:])
	prose, i := plain.String(), 0
	for i < len(offs) {
		line := span.New(span.LineStart(prose, offs[i]), span.LineEnd(prose, offs[i]))
		for t := range markdown.Tokens(prose, line, nil) {
			for i < len(offs) && offs[i] <= t.Start {
				i++
			}
			first := i
			for i < len(offs) && offs[i] < t.End {
				i++
			}
			for k := first; k < i && t.Class == markdown.Atom; k++ {
				list = append(list, insideConstruct{comments[k], t.End + comments[i-1].End - offs[i-1]})
			}
		}
		for i < len(offs) && offs[i] <= line.End { // after the last token
			i++
		}
	}
	return list
}
