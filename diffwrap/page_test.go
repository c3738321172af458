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
note with one pending change. If you accept the change, relayfs removes the deleted text. If you reject it, relayfs removes the added text.

All examples follow two rules. Each change is a readable unit for the user who decides: a word, a cell, a sentence, a block. And
unchanged text looks as before while the change is pending. So relayfs puts marks where they break no heading,
fence or table, if there is such a place.

The examples are test cases of the package ` + "`diffwrap`" + ` (testdata/put), and a test writes this page from them.

## What counts as a mark

Marks that relayfs wrote count everywhere, even in code, because relayfs keeps a record of each mark. In other text, a mark extends from the leftmost opener to the
first closer of the same kind, in any dialect. Marks do not nest. But braces with signs can also be ordinary text. relayfs treats them as text

` + literalExamples() + `
Such text is the same in every view. relayfs does not list or count it, ` + "`accept --all`" + ` does not change it, and an agent may write it. Other plugins may treat it differently: Commentator and
Relay Comments also recognise marks in code; obsidian-track-changes and the extension of VS Code do not.

A mark that you type in one of these places is therefore not a suggestion. A comment in such a place does not count either: write the comment next to the code. If the state folder is lost, the marks that relayfs wrote in such
places become text as well, and you must remove them yourself.
`

// marksExamples are the cases on the page.
var marksExamples = []struct{ title, name string }{
	{"Words", "prose-words"},
	{"A word that becomes bold", "pair-emphasis"},
	{"A rewritten paragraph", "paragraph-rewrite"},
	{"A paragraph split in two", "paragraph-split"},
	{"A new paragraph", "paragraph-insert"},
	{"Several new paragraphs", "paragraphs-insert"},
	{"A paragraph below a heading", "place-after-heading"},
	{"A paragraph after code", "place-after-fence-at-end"},
	{"Text above the first heading", "place-before-heading"},
	{"A heading", "heading-text"},
	{"Another heading level", "heading-level"},
	{"A new list item", "list-insert"},
	{"Renumbered list items", "ordered-renumber"},
	{"A completed task", "tasks-toggled"},
	{"A table cell", "table-cell"},
	{"A new row above the first one", "place-first-row"},
	{"A table with another column or alignment", "place-realigned"},
	{"A link", "link-destination"},
	{"A formula", "place-formula"},
	{"A deleted callout", "place-callout-deleted"},
	{"A deleted rule", "place-rule-deleted"},
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
		{"in an Obsidian comment", "%%{++later++}%%"},
		{"in a template", "{{-- Blade --}} <%* if (a) {++b; c++} %>"},
		{"without content, or where the opening and closing delimiters overlap", "pages = {123{--}145}, {++++}"},
		{"where a mark would begin in one block and end in another, unless it is a comment or a highlight", "Call f({--n, or\n\nthen g(n--}) again."},
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
