package render

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// A list has the groups of the page, whatever notes are not looked at for them.
func TestAListHasTheGroupsOfThePage(t *testing.T) {
	pieces := []string{
		"{++new++}", "{--old--}", "{--old--}{++new++}", "{++new words\n\n++}", "{>>a comment<<}", "{==marked==}", "{--{>>gone<<}--}", "word ", "word ",
		strings.Repeat("word ", 5), strings.Repeat("many words ", 3), "\n", "\n\n", "- ", "> ", "[^1]", "\n\n[^1]: A note ", "`code`",
	}
	rounds, grouped := 0, 0
	randomtest.Check(t, 300, func(t testing.TB, r *rand.Rand) {
		rounds++
		raw := strings.Join(randomtest.Some(r, 1, 25, pieces...), "")
		f := bridgetest.New(t, map[string]string{"N/a.md": raw, "N/b.md": "Plain.\n"})
		q := reviewqueue.New(f.Workspace)
		if text := randomtest.Pick(r, "", "One word.\n", "Some other words\n\nand more words\n"); text != "" {
			f.Workspace.Write(t.Context(), "N/a.md", bridge.Write{Text: text, By: model.Author{Name: "claude"}})
		}
		got, err := q.List(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := AddGroups(t.Context(), q, got, false); err != nil {
			t.Fatal(err)
		}
		n, err := q.Note(t.Context(), "N/a.md")
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(got)
		listed := make(map[string]*reviewqueue.Suggestion)
		for i := range want {
			want[i].Group = ""
			listed[want[i].ID] = &want[i]
		}
		groupNote(&n, listed, false)
		for i := range got {
			if got[i].Group != want[i].Group {
				t.Fatalf("in %q %s is in the group %q of the list, and in %q on the page", n.Text, got[i].Summary(), got[i].Group, want[i].Group)
			}
			if want[i].Group != "" {
				grouped++
			}
		}
	})
	if grouped == 0 && rounds >= 100 {
		t.Error("no suggestion was in a group")
	}
}
