package bridge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// An agent's line stays a line if the lines of another agent that it was added to are rejected, and both agents may
// still change their own lines. The suggestion of the other agent stays one suggestion.
func TestALineBehindAnotherAgentsLineStaysALine(t *testing.T) {
	const path = "F/Note.md"
	for _, verdicts := range [][2]model.Verdict{{model.Rejected, model.Accepted}, {model.Accepted, model.Rejected}, {model.Rejected, model.Rejected}, {model.Accepted, model.Accepted}} {
		for first := range 2 {
			f := bridgetest.New(t, map[string]string{path: "words\nmore\n"})
			write := func(who, text string) {
				t.Helper()
				v, err := f.Open(t.Context(), path)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.Write(t.Context(), path, bridge.Write{Base: v, Text: text, By: model.Author{Name: who, Session: who}}); err != nil {
					t.Fatal(err)
				}
			}
			write("ann", "words\nann\n\nmore\n")
			write("bob", "words\nann\nbob\n\nmore\n")
			write("ann", "words\nAnn\nbob\n\nmore\n")
			write("bob", "words\nAnn\nBob\n\nmore\n")
			list, err := f.Suggestions(t.Context(), path)
			if err != nil || len(list) != 2 {
				t.Fatalf("%q has the suggestions %+v, %v; want two", f.SourceText(path), list, err)
			}
			want := []string{"words"}
			for k := range list {
				if verdicts[k] == model.Accepted {
					want = append(want, strings.TrimSpace(list[k].New))
				}
			}
			for _, k := range []int{first, 1 - first} {
				if _, err := f.Decide(t.Context(), []string{list[k].ID}, verdicts[k], model.Author{Name: "user"}); err != nil {
					t.Fatal(err)
				}
			}
			want = append(want, "more")
			text := f.SourceText(path)
			if got := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' }); !slices.Equal(got, want) {
				t.Errorf("%q and %q, %d first: %q, want the lines %q", verdicts[0], verdicts[1], first, text, want)
			}
			list, err = f.Suggestions(t.Context(), path)
			if err != nil || len(list) != 0 {
				t.Errorf("%q has the suggestions %+v, %v; want none", text, list, err)
			}
		}
	}
}
