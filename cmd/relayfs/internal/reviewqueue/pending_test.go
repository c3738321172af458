package reviewqueue

import (
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// What is pending is asked for by paths: those notes and what is below those folders, with all proposals.
func TestPendingBelowPaths(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"N/a.md": "a {++b++}\n", "N/d/b.md": "{--c--}{>>why<<}\n", "N/d/e/c.md": "{++d++}\n", "N/dd.md": "{++e++}\n"})
	q := New(f.Workspace)
	if _, err := f.Workspace.Remove(t.Context(), "N/a.md", bridge.ChangeRequest{Author: model.Author{Name: "claude"}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		paths []string
		want  []string
	}{{[]string{""}, []string{"N/d/b.md", "N/d/e/c.md", "N/dd.md", "N/a.md"}}, {[]string{"N/d"}, []string{"N/d/b.md", "N/d/e/c.md", "N/a.md"}}, {[]string{"N/dd.md", "N/x"}, []string{"N/dd.md", "N/a.md"}}, {nil, []string{"N/a.md"}}} {
		now, err := q.Pending(t.Context(), c.paths)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range now.Suggestions {
			got = append(got, s.Path)
			if !s.IsProposal() && (s.Old != "" || s.New != "") {
				t.Errorf("%+v has a text", s)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("at %q %q waits, want %q", c.paths, got, c.want)
		}
	}
}
