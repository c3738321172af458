package queue

import (
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// known is what a client knows that was told the deltas so far.
type known map[string]Suggestion

func (k known) apply(d Delta) {
	maps.DeleteFunc(k, func(_ string, s Suggestion) bool {
		return slices.ContainsFunc(d.Paths, func(p string) bool { return model.Path(p).Contains(model.Path(s.Path)) })
	})
	for _, s := range d.Suggestions {
		k[s.ID] = s
	}
}

// Whatever happens, and however much of it a client misses in between, who asks for the events behind the last one
// that it has knows what is pending.
func TestDeltasAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := bridgetest.New(t, map[string]string{"N/a.md": "one\ntwo\n", "N/b.md": "three\n", "N/sub/c.md": "four\n"})
		q, cancel := NewLocal(f.Workspace)
		defer cancel()
		srv := httptest.NewServer(serveEvents(q))
		defer srv.Close()
		ctx := t.Context()
		client := known{}
		var seen uint64
		check := func() {
			resp := openEvents(t, srv, fmt.Sprint(seen))
			d := nextEvents(resp.Body, 1)[0]
			resp.Body.Close()
			client.apply(d)
			seen = d.Now
			list, err := q.List(ctx, false)
			if err != nil {
				r.Fatal(err)
			}
			var got, want []string
			for _, s := range client {
				got = append(got, s.Path+" "+s.ID+" "+s.Revision)
			}
			for _, s := range list {
				want = append(want, s.Path+" "+s.ID+" "+s.Revision)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				r.Fatalf("the client knows\n%s\npending is\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
		check()
		agent := model.Author{Name: "claude"}
		notes := func() (list []model.Path) {
			for _, p := range []model.Path{"N/a.md", "N/b.md", "N/sub/c.md", "N/d.md", "N/new/c.md"} {
				if f.Workspace.HasNote(p) {
					list = append(list, p)
				}
			}
			return list
		}
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			before := q.n
			p := rapid.SampledFrom(append(notes(), "N/d.md")).Draw(r, "note")
			switch rapid.SampledFrom([]string{"write", "write", "decide", "rename", "move a folder", "delete", "person"}).Draw(r, "step") {
			case "write":
				text := rapid.StringMatching(`([a-c]{1,3}\n){0,4}`).Draw(r, "text")
				f.Workspace.Write(ctx, p, bridge.Write{Text: text, By: agent})
			case "decide":
				list, _ := q.List(ctx, false)
				if len(list) > 0 {
					verdict := rapid.SampledFrom([]model.Verdict{model.Accepted, model.Rejected}).Draw(r, "verdict")
					q.Decide(ctx, DecideRequest{IDs: []string{rapid.SampledFrom(IDsOf(list)).Draw(r, "id")}, Verdict: verdict, By: "pat", Force: true})
				}
			case "rename":
				f.Workspace.Rename(ctx, p, "N/d.md", bridge.Restructure{By: agent})
			case "move a folder":
				f.Workspace.Rename(ctx, "N/sub", "N/new", bridge.Restructure{By: agent})
			case "delete":
				f.Workspace.Remove(ctx, p, bridge.Restructure{By: agent})
			case "person":
				f.Workspace.Write(ctx, p, bridge.Write{Text: "a person's\n", By: model.Author{Name: "pat"}})
			}
			if q.n != before && rapid.Bool().Draw(r, "asks") {
				check()
			}
		}
		if q.n != seen {
			check()
		}
	})
}
