package semantic_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/frontmatter"
	"github.com/relayfs/relayfs/bridge/index/semantic"
	"github.com/relayfs/relayfs/bridge/model"
)

func find(t *testing.T, f *bridgetest.Fixture, x *semantic.Index, q semantic.Query) string {
	t.Helper()
	a, err := x.Find(t.Context(), f.Workspace, q, semantic.Place{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, n := range a.Notes {
		paths = append(paths, string(n.Path))
	}
	return strings.Join(paths, " ")
}

func TestFindFollowsChanges(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/Garden/Slugs.md": "They eat lettuce.\n", "V/Tax.md": "The form is due in April.\n"})
	x := semantic.New(f.Workspace, semantic.Options{})
	q := semantic.Query{Text: "lettuce"}
	if got := find(t, f, x, q); got != "V/Garden/Slugs.md" {
		t.Fatalf("found %q", got)
	}
	f.Rename("V/Garden", "V/Plot")
	f.Person("V/New.md", "Snails eat lettuce, too, and lettuce again.\n")
	if got := find(t, f, x, q); got != "V/New.md V/Plot/Slugs.md" && got != "V/Plot/Slugs.md V/New.md" {
		t.Errorf("found %q", got)
	}
	f.Person("V/New.md", "Snails.\n")
	f.Delete("V/Plot/Slugs.md")
	if got := find(t, f, x, q); got != "" {
		t.Errorf("found %q after the word is gone", got)
	}
}

func TestFindFilters(t *testing.T) {
	f := bridgetest.New(t, map[string]string{
		"V/a/open.md": "---\nstatus: open\n---\nbread and butter #food\n", "V/b/done.md": "---\nstatus: done\n---\nbread and cheese\n", "V/b/plain.md": "bread\n", "V/cars.md": "cars\n",
	})
	x := semantic.New(f.Workspace, semantic.Options{})
	for want, q := range map[string]semantic.Query{
		"V/b/done.md": {Filter: frontmatter.Properties{{Key: "status", Value: "done"}}},
		"V/a/open.md": {Filter: frontmatter.Properties{{Key: "tags", Value: "food"}}},
		"V/b/plain.md": {Under: "V/b", Only: func(p model.Path) bool {
			return p != "V/b/done.md"
		}},
		"": {Since: time.Now().Add(time.Hour)},
	} {
		q.Text = "bread"
		if got := find(t, f, x, q); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// Pages follow each other without a gap, also when the last note shown is gone.
func TestFindGoesOn(t *testing.T) {
	notes := make(map[string]string)
	for i := range 9 {
		notes[fmt.Sprintf("V/%d.md", i)] = "bread" + strings.Repeat(" and other things", i) + "\n"
	}
	f := bridgetest.New(t, notes)
	x := semantic.New(f.Workspace, semantic.Options{})
	seen := make(map[model.Path]bool)
	var after semantic.Place
	for page := range 3 {
		a, err := x.Find(t.Context(), f.Workspace, semantic.Query{Text: "bread"}, after, 3)
		if err != nil || len(a.Notes) != 3 || a.More != (page < 2) {
			t.Fatalf("page %d: %d notes, more is %v, %v", page, len(a.Notes), a.More, err)
		}
		for _, n := range a.Notes {
			if seen[n.Path] {
				t.Errorf("%s is there twice", n.Path)
			}
			seen[n.Path] = true
		}
		after = semantic.Place{Path: a.Notes[2].Path, Number: after.Number + 3}
	}
	a, err := x.Find(t.Context(), f.Workspace, semantic.Query{Text: "bread"}, semantic.Place{Path: "V/gone.md", Number: 8}, 3)
	if err != nil || len(a.Notes) != 1 {
		t.Errorf("behind a note that is gone: %d notes, %v", len(a.Notes), err)
	}
}

// Without vectors the words are searched, and the answer says why.
func TestFindWithoutMeaning(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "bread\n"})
	x := semantic.New(f.Workspace, semantic.Options{Embedder: &semantic.Endpoint{URL: "http://127.0.0.1:1", Model: "m", Wait: time.Millisecond}})
	a, err := x.Find(t.Context(), f.Workspace, semantic.Query{Text: "bread"}, semantic.Place{}, 3)
	if err != nil || len(a.Notes) != 1 || !errors.Is(a.Meaning, semantic.ErrEndpoint) {
		t.Errorf("found %d notes, %v, %v", len(a.Notes), err, a.Meaning)
	}
}

// The part that is shown has the words of the question, and is some lines, or a piece of a long one.
func TestFindShowsTheBestPart(t *testing.T) {
	filler := strings.Repeat("Nothing of interest stands in this line of text.\n", 40)
	long := strings.Repeat("Nothing of interest stands in here. ", 60)
	for name, text := range map[string]string{
		"lines":     filler + "\nThe ducks\nate all slugs.\n\n" + filler,
		"long line": filler + "\n" + long + "The ducks ate all slugs." + long + "\n",
		"no space":  strings.Repeat("無", 900) + "The ducks ate all slugs." + strings.Repeat("無", 900),
	} {
		f := bridgetest.New(t, map[string]string{"V/a.md": text})
		x := semantic.New(f.Workspace, semantic.Options{})
		a, err := x.Find(t.Context(), f.Workspace, semantic.Query{Text: "which slugs did ducks eat"}, semantic.Place{}, 3)
		if err != nil || len(a.Notes) != 1 {
			t.Fatalf("%s: found %d notes, %v", name, len(a.Notes), err)
		}
		n := a.Notes[0]
		got := text[n.Start:n.End]
		if !strings.Contains(got, "The ducks") || !strings.Contains(got, "slugs.") || len(got) > 600 {
			t.Errorf("%s: shows %q", name, got)
		}
	}
}
