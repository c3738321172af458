package bridge_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// Rows of Obsidian's link behaviour that concern more than one note at a time;
// bridge/index/links and bridge/index/outline have the others.

// Row 37: Obsidian makes bare links longer when a second note of their name comes;
// until it does, they lead where its rules say.
func TestRow37SecondNoteOfAName(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/deep/Note.md": "", "V/a.md": "[[Note]]\n"})
	lead := func(want model.Path) {
		t.Helper()
		if l, err := f.Links(t.Context(), "V/a.md"); err != nil || !slices.Equal(l.Forward, []model.Path{want}) {
			t.Errorf("[[Note]] leads to %v, %v, want %s", l.Forward, err, want)
		}
	}
	lead("V/deep/Note.md")
	f.Person("V/Note.md", "")
	lead("V/Note.md")
	if l, err := f.Links(t.Context(), "V/deep/Note.md"); err != nil || len(l.Backlinks) != 0 {
		t.Errorf("backlinks of the other: %v, %v", l.Backlinks, err)
	}
	f.Person("V/a.md", "[[deep/Note]]\n")
	lead("V/deep/Note.md")
}

// Row 38: moving a note rewrites the links that pointed to it, in every form, and
// nothing else; in suggest mode as suggestions.
func TestRow38Rename(t *testing.T) {
	before := "---\nup: \"[[Old]]\"\n---\n[[Old]] [[Old|shown]] [[Old#H|h]] ![[Old]] [t](Old.md) `[[Old]]` Old [[Older]]\n| [[Old\\|cell]] |\n"
	after := "---\nup: \"[[New]]\"\n---\n[[New]] [[New|shown]] [[New#H|h]] ![[New]] [t](New.md) `[[Old]]` Old [[Older]]\n| [[New\\|cell]] |\n"
	f := bridgetest.New(t, map[string]string{
		"V/Old.md": "# H\n[[#H]]\n", "V/Older.md": "not [[Older]]\n", "V/a.md": before,
	}, func(o *bridge.Options) { o.Structure = bridge.StructureDirect })
	done, err := f.Workspace.Rename(t.Context(), "V/Old.md", "V/New.md", bridge.ChangeRequest{Author: model.Author{Name: "agent"}})
	if err != nil {
		t.Fatal(err)
	}
	raw := f.SourceText("V/a.md")
	if got := diffwrap.Accepted(raw); got != after {
		t.Errorf("accepted, the note that links is\n%s\nwant\n%s", got, after)
	}
	if done.Links != 7 || done.Notes != 1 || len(diffwrap.Suggestions(raw)) == 0 {
		t.Errorf("rewrote %d links in %d notes: %s", done.Links, done.Notes, raw)
	}
	if self, other := f.SourceText("V/New.md"), f.SourceText("V/Older.md"); self != "# H\n[[#H]]\n" || other != "not [[Older]]\n" {
		t.Errorf("other notes changed: %q, %q", self, other)
	}
}

// Row 40: a link to a heading or block that is there twice leads to the note all
// the same, once.
func TestRow40HeadingTwice(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/Note.md": "# H\n\none ^x\n\n# H\n\ntwo ^x\n", "V/a.md": "[[Note#H]] [[Note#^x]]\n"})
	l, err := f.Links(t.Context(), "V/a.md")
	if err != nil || !slices.Equal(l.Forward, []model.Path{"V/Note.md"}) || len(l.Unresolved) != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// Row 42: what a suggestion would add is not in the graph, what it would delete is. A link that a suggestion changes has
// its old name.
func TestRow42LinksInSuggestions(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"V/Old.md": "", "V/New.md": "", "V/Alpha.md": "",
		"V/a.md": "{++[[New]]++} {--[[Old]]--} [[Al{--pha--}{++so++}]] {++[r]: [[x]] ++}\n",
	})
	l, err := f.Links(t.Context(), "V/a.md")
	if err != nil || !slices.Equal(l.Forward, []model.Path{"V/Old.md", "V/Alpha.md"}) || len(l.Unresolved) != 0 || !slices.Equal(l.Pending, []string{"New", "Also", "x"}) {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := f.Links(t.Context(), "V/New.md"); err != nil || len(l.Backlinks) != 0 {
		t.Errorf("backlinks of what is only suggested: %+v, %v", l, err)
	}
}

// Every row has a test that names it, here, in bridge/index/links or in bridge/index/outline.
func TestEveryRowOfLinksIsTested(t *testing.T) {
	named := make(map[string]bool)
	for _, pattern := range []string{"index/links/*_test.go", "index/outline/*_test.go", "links_rows_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files, %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?i)\brows? ?([0-9, ]+)`).FindAllStringSubmatch(string(text), -1) {
				for n := range strings.FieldsSeq(strings.ReplaceAll(m[1], ",", " ")) {
					named[n] = true
				}
			}
		}
	}
	for row := 1; row <= 42; row++ {
		if !named[strconv.Itoa(row)] {
			t.Errorf("no test names row %d", row)
		}
	}
}
