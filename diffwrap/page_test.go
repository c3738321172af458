package diffwrap_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/relayfs/relayfs/diffwrap"
)

const marksPage = "../docs/marks.md"

var marksIntro = `# What a pending change looks like

A change that a program makes waits in the note as [CriticMarkup](https://fletcher.github.io/MultiMarkdown-6/syntax/critic.html): ` + "`{--deleted--}`" + ` and ` + "`{++added++}`" + `. Each example below is a
note with one pending change. Accept it, and the deleted text goes; reject it, and the added text goes.

Two rules are behind all of them. A person decides about something that can be read: a word, a cell, a sentence, a block. And the page
stays the page: what did not change looks as before while the change is pending, so no mark stands where it would make something else of a heading,
a fence or a table.

The examples are test cases of the package ` + "`diffwrap`" + ` (testdata/put), and this page is written from them.

## What counts as a mark

Marks that relayfs wrote count wherever they stand, in code too: relayfs keeps a record of each. In text that it did not write, the leftmost opener counts with its
first own closer, in any dialect, and nothing nests. But braces with signs are also ordinary text. relayfs takes them for text

` + literalExamples() + `
Such text is the same in every view. It is not listed and not counted, ` + "`accept --all`" + ` leaves it alone, and an agent may write it. The code of other plugins may read it otherwise: Commentator and
Relay Comments see marks in code too, obsidian-track-changes and the extension of VS Code do not.

A mark that you type in one of these places is therefore no suggestion. Neither is a comment: write it beside the code. If the state folder is lost, the marks that relayfs had written in such
places are text as well, and are yours to take out.
`

// marksExamples are the cases on the page.
var marksExamples = []struct{ title, name string }{
	{"Words", "prose-words"},
	{"A word that becomes bold", "pair-emphasis"},
	{"A paragraph written anew", "paragraph-rewrite"},
	{"A paragraph that is cut in two", "paragraph-split"},
	{"A new paragraph", "paragraph-insert"},
	{"Several new paragraphs", "paragraphs-insert"},
	{"A paragraph below a heading", "place-after-heading"},
	{"A paragraph behind code", "place-after-fence-at-end"},
	{"Text above the first heading", "place-before-heading"},
	{"A heading", "heading-text"},
	{"The level of a heading", "heading-level"},
	{"A new item of a list", "list-insert"},
	{"Items that are numbered anew", "ordered-renumber"},
	{"A task that is done", "tasks-toggled"},
	{"A cell of a table", "table-cell"},
	{"A new row above the first one", "place-first-row"},
	{"A table with another column or alignment", "place-realigned"},
	{"A link", "link-destination"},
	{"A formula", "place-formula"},
	{"A callout that goes", "place-callout-deleted"},
	{"A rule that goes", "place-rule-deleted"},
	{"Thai", "thai"},
}

// literalExamples lists what is no mark.
func literalExamples() string {
	var b strings.Builder
	for _, x := range []struct{ where, example string }{
		{"in front matter", "---\ntitle: The {--old--}{++new++} thing\n---"},
		{"in fenced, indented or inline code", "```c\nfor (;;) {++n; m++}\n```"},
		{"in a formula", "$A^{--}$ and $B^{--}$"},
		{"in an HTML tag or comment", "<!-- {++later++} -->"},
		{"in a comment of Obsidian", "%%{++later++}%%"},
		{"in a template", "{{-- Blade --}} <%* if (a) {++b; c++} %>"},
		{"without a body, or where opener and closer share their signs", "pages = {123{--}145}, {++++}"},
		{"from inside of one block to inside of another, except for a comment or a highlight", "Call f({--n, or\n\nthen g(n--}) again."},
	} {
		if stored := diffwrap.Accepted(x.example); stored != x.example {
			panic(x.example + " has marks")
		}
		fmt.Fprintf(&b, "%s:\n\n````markdown\n%s\n````\n\n", x.where, x.example)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// The page shows the cases as they are; -update writes it.
func TestMarksPage(t *testing.T) {
	var b strings.Builder
	b.WriteString(marksIntro)
	for _, e := range marksExamples {
		archive, err := txtar.ParseFile("testdata/put/" + e.name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "stored" {
				text := strings.NewReplacer("␠", " ", "␄", "", "␍", "").Replace(string(f.Data))
				fmt.Fprintf(&b, "\n## %s\n\n````markdown\n%s\n````\n", e.title, strings.TrimRight(text, "\n"))
			}
		}
	}
	if *update {
		if err := os.WriteFile(marksPage, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(marksPage); err != nil || string(page) != b.String() {
		t.Errorf("%s is not what the cases say (%v); go test ./diffwrap -run TestMarksPage -update writes it", marksPage, err)
	}
}
