package diffwrap_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const marksPage = "../docs/marks.md"

const marksIntro = `# What a pending change looks like

A change that a program makes waits in the note as [CriticMarkup](https://fletcher.github.io/MultiMarkdown-6/syntax/critic.html): ` + "`{--deleted--}`" + ` and ` + "`{++added++}`" + `. Each example below is a
note with one pending change. Accept it, and the deleted text goes; reject it, and the added text goes.

Two rules are behind all of them. A person decides about something that can be read: a word, a cell, a sentence, a block. And the page
stays the page: what did not change looks as before while the change is pending, so no mark stands where it would make something else of a heading,
a fence or a table.

The examples are test cases of the package ` + "`diffwrap`" + ` (testdata/put), and this page is written from them.
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
