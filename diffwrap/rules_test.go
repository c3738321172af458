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
	markdown.Rule
	without func(f func()) // calls f while the row is not in its table
}

func rowsOf[T any](table *[]T, about func(T) markdown.Rule) (out []row) {
	for i, x := range *table {
		out = append(out, row{about(x), func(f func()) {
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
		rowsOf(&markdown.LineMarkers, func(x markdown.LineMarker) markdown.Rule { return x.Rule }),
		rowsOf(&markdown.Constructs, func(x markdown.Construct) markdown.Rule { return x.Rule }),
		rowsOf(&markdown.Destinations, func(x markdown.Construct) markdown.Rule { return x.Rule }),
		rowsOf(&markdown.Joints, func(x markdown.Joint) markdown.Rule { return x.Rule }),
		rowsOf(&align.CoalesceRules, func(x align.CoalesceRule) markdown.Rule { return x.Rule }),
		rowsOf(&align.MergeRules, func(x align.MergeRule) markdown.Rule { return x.Rule }),
		rowsOf(&placement.Places, func(x placement.Place) markdown.Rule { return x.Rule }),
		rowsOf(&placement.Lines, func(x placement.Line) markdown.Rule { return x.Rule }),
	)
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
		if slices.Contains(names, r.Name) || r.Name == "" || r.When == "" || r.What == "" {
			t.Errorf("rule %q needs a name of its own, when and what", r.Name)
		}
		names = append(names, r.Name)
		if got := written(t, r.Example); got != r.Example {
			t.Errorf("rule %q: its example comes out as\n%q, want\n%q", r.Name, got, r.Example)
		}
		r.without(func() {
			if written(t, r.Example) == r.Example {
				t.Errorf("rule %q: without it its example is the same: %q", r.Name, r.Example)
			}
		})
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
