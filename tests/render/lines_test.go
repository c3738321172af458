package render

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

// overLines are constructs with a line break in them, which "_" stands for, and what each is on the page.
var overLines = []struct{ construct, element string }{
	{"[red_shed](house.md)", "<a "}, {"[red shed](house.md_\"garden\")", "<a "}, {"![red_shed](house.png)", "<img "}, {"`red_shed house`", "<code>"},
	{"$red_shed house$", "<x-inline_math>"}, {"%%red shed_house%%", "<x-inline_comment>"}, {"<b_class=\"red\">shed</b>", "<b"}, {"<!-- red_shed -->", "<!--"},
}

var (
	anyWord       = regexp.MustCompile(`[a-z]+`)
	markDelimiter = regexp.MustCompile(`\{(\+\+|--)|(\+\+|--)\}|%7B`)
)

// A construct over lines is still seen while words in it and around it change, or it comes or goes, and no mark is a part of it.
func TestOverLines(t *testing.T) {
	r := newRenderer(t)
	rng := rand.New(rand.NewPCG(*seedFlag, 0))
	for i := range max(800, *editCount) {
		x := overLines[i%len(overLines)]
		indent := []string{"", "", "> ", "- "}[rng.IntN(4)]
		lineBreak := "\n" + strings.ReplaceAll(indent, "-", " ")
		note := func(construct string, at string) string {
			s := "It rains." + "_near the old pond " + construct + " and snow fell_in the garden."
			return "First.\n\n" + indent + strings.ReplaceAll(s, "_", at) + "\n\nLast.\n"
		}
		before, after := note(x.construct, lineBreak), note(x.construct, lineBreak)
		switch rng.IntN(5) {
		case 0:
			after = note("nothing", lineBreak)
		case 1:
			before = note("nothing", lineBreak)
		case 2:
			after = note(strings.ReplaceAll(x.construct, "_", " "), lineBreak)
		default:
			for range 1 + rng.IntN(3) {
				words := anyWord.FindAllStringIndex(after, -1)
				w := words[rng.IntN(len(words))]
				if s := after[w[0]:w[1]]; s != "b" && s != "class" && s != "md" && s != "png" {
					after = after[:w[0]] + fmt.Sprintf("new%c", 'a'+rng.IntN(26)) + after[w[1]:]
				}
			}
		}
		edits, err := diffwrap.Put(before, after)
		if err != nil {
			t.Fatal(err)
		}
		pending := diffwrap.Apply(before, edits)
		shown := r.html(pending)
		least := min(strings.Count(r.html(before), x.element), strings.Count(r.html(after), x.element))
		if strings.Count(shown, x.element) < least || markDelimiter.MatchString(shown) {
			t.Errorf("pending:\n%s\nshown:\n%s", pending, shown)
		}
	}
}
