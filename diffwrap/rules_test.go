package diffwrap_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/diffwrap/internal/align"
	"github.com/relayfs/relayfs/diffwrap/internal/markdown"
	"github.com/relayfs/relayfs/diffwrap/internal/placement"
)

// row is a row of a table of rules, which can be taken out of it.
type row struct {
	name    string
	without func(f func()) // calls f while the row is not in its table
}

func rowsOf[T any](table *[]T, name func(T) string) (out []row) {
	for i, x := range *table {
		out = append(out, row{name(x), func(f func()) {
			whole := *table
			defer func() { *table = whole }()
			*table = slices.Delete(slices.Clone(whole), i, i+1)
			f()
		}})
	}
	return out
}

// rules lists the rows of all tables.
func rules() []row {
	return slices.Concat(
		rowsOf(&markdown.LineMarkers, func(x markdown.LineMarker) string { return x.Name }),
		rowsOf(&markdown.Constructs, func(x markdown.Construct) string { return x.Name }),
		rowsOf(&markdown.Destinations, func(x markdown.Construct) string { return x.Name }),
		rowsOf(&markdown.Joints, func(x markdown.Joint) string { return x.Name }),
		rowsOf(&align.CoalesceRules, func(x align.CoalesceRule) string { return x.Name }),
		rowsOf(&align.MergeRules, func(x align.MergeRule) string { return x.Name }),
		rowsOf(&placement.Places, func(x placement.Place) string { return x.Name }),
		rowsOf(&placement.Lines, func(x placement.Line) string { return x.Name }),
	)
}

// about says of each rule when it applies and what it does. Its example is a pending text that shows the effect.
var about = map[string]struct{ when, what, example string }{
	"callout marker": {"the type of a callout changes", "the line is replaced whole",
		"Text.{--\n> [!tip] Title--}{++\n> [!note] Title++}"},
	"line of rule characters": {"a thematic break, an underline or a delimiter row changes", "it is replaced whole",
		"Text.\n{--\n- - ---}{++\n- - - -++}\n\nMore."},
	"fence marker": {"the marker of a fence changes", "its line is replaced whole",
		"Text.\n\n{--```js\n--}{++~~~js\n++}code{--\n```--}{++\n~~~++}"},
	"heading marker": {"the level of a heading changes", "the line is replaced whole",
		"Text.\n{--\n## Title--}{++\n### Title++}\n\nMore."},
	"checkbox": {"a task is checked off, or is no longer a task", "the line is replaced whole",
		"- a{--\n- [ ] b--}{++\n- [x] b++}"},
	"item marker": {"a bullet or a number changes", "the line is replaced whole",
		"1. a{--\n2. b--}{++\n3. b++}"},
	"line break": {"a line ends", "CR and LF are one token",
		"if x is{--\r\n--}{++ {\r\n++}end\r\n"},
	"literal delimiter": {"a delimiter of a mark is text, as in code", "it is replaced whole",
		"Use {--++}--}{++--}++} to end."},
	"emphasis": {"emphasis characters follow one another", "they are one token",
		"A {--**--}{++***++}wooden shed that stands behind the large old house beside the small pond{--**--}{++***++}."},
	"escape": {"a character is escaped", "the backslash and the character are one token",
		"Cost {--\\*--}{++\\_++}five."},
	"embed": {"a note or a picture is embedded", "it is replaced whole",
		"See {--![[a.png]]--}{++![[b.png]]++}."},
	"wikilink": {"a link is a wikilink", "it is replaced whole",
		"See {--[[Old shed]]--}{++[[New shed]]++}."},
	"link": {"a link has text and a destination", "it is replaced whole, so that the old and the new link can be clicked",
		"See {--[shed](a.md)--}{++[shed](b.md)++}."},
	"reference": {"a link has text and a label", "it is replaced whole, so that it stays a link",
		"See {--[old shed][a]--}{++[new shed][a]++}."},
	"footnote label": {"the text refers to a footnote", "its label is replaced whole",
		"Rain{--[^1]--}{++[^2]++} fell."},
	"inline code": {"backticks enclose code", "it is replaced whole",
		"Run {--`go test`--}{++`go vet`++} now."},
	"inline formula": {"dollar signs enclose a formula", "it is replaced whole",
		"With {--$x + y$--}{++$x + z$++} it fits."},
	"hidden text": {"percent signs enclose a comment", "it is replaced whole",
		"Rain {--%%in May%%--}{++%%in June%%++} fell."},
	"template": {"double braces enclose a placeholder", "it is replaced whole",
		"At {--{{date now}}--}{++{{time now}}++} it fell."},
	"entity": {"an entity stands for a character", "it is replaced whole",
		"Rain {--&amp;--}{++&nbsp;++} sun."},
	"inline HTML": {"there is an HTML tag or comment", "it is replaced whole",
		"A {--<b>--}{++<i>++}shed."},
	"tag": {"a hash starts a tag", "it is replaced whole",
		"A {--#garden/old--}{++#garden/new++} shed."},
	"id of a block": {"a line ends in the id of its block", "it is replaced whole",
		"A shed. {--^old-id--}{++^new-id++}"},
	"destination": {"a line defines a link", "its destination is replaced whole",
		"See [a].\n\n[a]: {--old/shed.md--}{++new/shed.md++}"},
	"apostrophes": {"letters stand on both sides of an apostrophe", "the apostrophe is part of their word",
		"It {--isn't--}{++doesn't++} rain."},
	"underscores": {"letters or digits stand on both sides of an underscore", "the underscore is part of their word",
		"Set {--max_size--}{++max_length++} now."},
	"numbers": {"digits stand on both sides of a separator, as in 3.14, 10:30, 2026-07-13", "the separator is part of their number",
		"At {--10:30--}{++10:45++} it rained."},
	"islands": {"only one blank separates two changes, both delete text, and one adds text", "they become one change",
		"A {--pine tree--}{++apple bush++} here."},
	"unspaced script": {"only a few characters or syllables of a script without spaces separate two changes", "they become one change",
		"我们{--四月种--}{++五月植++}豆子"},
	"pairs": {"two changes add, remove or replace the two ends of a pair", "they become one change",
		"Keep the {--word--}{++**word**++} here."},
	"sentences": {"a sentence has many changes and keeps too few words between them", "they become one change",
		"The garden is old and big. {--Red beans in May, sown in rows, grow--}{++Rice in June, kept in water, stands++}. The pond is cold and deep."},
	"line break first": {"whole lines are added or removed", "the mark begins with a line break, at the end of a line that stays",
		"- a{++\n- b++}\n- c"},
	"whole lines": {"no mark can stand at the end of the line before", "the mark begins at the start of a line",
		"Old. ^id\n{++New.\n++}"},
	"on a blank line": {"a mark would stand on a line of a block that stays, and there is a blank line nearby", "the mark begins on the blank line",
		"# One\n{++\n# Two\n++}\n---"},
	"behind a marker": {"lines are added or removed above lines with the same beginning", "the mark begins after a marker, or after a row's first pipe",
		"# {++One\n\n# ++}Two"},
	"heading": {"a heading stays", "no mark stands on its line",
		"# {++Day\n# ++}Day"},
	"fence": {"a fence stays", "no mark stands on its line",
		"```\na{++\n```\n\n```\nb++}\n```"},
	"rule": {"a rule, an underline or a delimiter row stays", "no mark stands on its line",
		"---\n# {++One\n# ++}Two"},
	"formula": {"a line begins or ends a formula", "no mark stands on it",
		"$${++\na $$\n\n$$++}\na $$"},
	"comment": {"a line begins or ends a comment", "no mark stands on it",
		"%%\na{++\n%%\n\n%%\nb++}\n%%"},
	"HTML": {"a line starts with a tag", "no mark stands on it",
		"<div>\na\n</div>\n{++New.\n++}"},
	"callout": {"a line is the title of a callout", "no mark stands on it",
		"> [!tip] Title\n{++New.\n++}"},
	"definition": {"a line defines a link", "no mark stands on it",
		"One.\n[a]: b\n{++New.\n++}"},
	"footnote": {"a line starts a footnote", "no mark stands in front of it",
		"Rain[^1] fell.\n\n$$\nn\n$$\n{--\nOld. ^id\n--}\n[^1]: In May.{++ All night.++}"},
	"block id": {"a line ends in the id of its block", "no mark stands after it",
		"Old. ^id\n{++New.\n++}"},
	"row": {"a line is a row of a table", "no mark stands in front of it",
		"| a |\n|---|\n| {++1 |\n| ++}2 |"},
	"item": {"a line is a list item", "no mark stands in front of it",
		"- {++a\n- ++}b"},
}

// stages are the rules that are no rows, since a stage of the comparison, or of placement, is what each says.
var stages = []string{
	"words", "characters", "line marker", "lines before words", "blocks", "reflow", "table cells", "final break", "blank lines", "table", "constructs over lines",
}

// written is what is stored when a program turns the original of a pending text into the accepted one.
func written(t *testing.T, pending string) string {
	t.Helper()
	original := diffwrap.Everything.Original(pending)
	edits, err := diffwrap.Put(original, diffwrap.Everything.Accepted(pending))
	if err != nil {
		t.Fatalf("Put of %q: %v", pending, err)
	}
	return diffwrap.Apply(original, edits)
}

// Each rule makes its example what it is, and without the rule it is another. The cases of testdata/put name rules that there are.
func TestRules(t *testing.T) {
	names := slices.Clone(stages)
	for _, r := range rules() {
		example := about[r.name].example
		if slices.Contains(names, r.name) || example == "" {
			t.Errorf("rule %q needs a name of its own, and an example", r.name)
		}
		names = append(names, r.name)
		if got := written(t, example); got != example {
			t.Errorf("rule %q: its example comes out as\n%q, want\n%q", r.name, got, example)
		}
		r.without(func() {
			if written(t, example) == example {
				t.Errorf("rule %q: without it its example is the same: %q", r.name, example)
			}
		})
	}
	if len(names) != len(about)+len(stages) {
		t.Errorf("%d rules are described, and there are %d", len(about), len(names)-len(stages))
	}
	files, err := filepath.Glob("testdata/put/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if list := ruleList.FindSubmatch(archive.Comment); list != nil {
			for name := range strings.SplitSeq(string(list[1]), ", ") {
				if named = append(named, name); !slices.Contains(names, name) {
					t.Errorf("%s is about the rule %q, which there is not", file, name)
				}
			}
		}
	}
	for _, name := range stages {
		if !slices.Contains(named, name) {
			t.Errorf("no case of testdata/put is about the rule %q", name)
		}
	}
}

// ruleList finds the rules that a case names: "Rules: heading, fence. Why."
var ruleList = regexp.MustCompile(`^Rules?: (.*?)\.\s`)
