package queue

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// known is what a client knows that was told the deltas so far.
type known map[string]Suggestion

// apply fails the test if the client is told what it knows.
func (k known) apply(r *rapid.T, d Delta) {
	maps.DeleteFunc(k, func(_ string, s Suggestion) bool {
		return slices.ContainsFunc(d.Replaced, func(p string) bool { return model.Path(p).Contains(model.Path(s.Path)) })
	})
	for _, id := range d.Gone {
		if _, ok := k[id]; !ok {
			r.Fatalf("%s is told to be gone, and was not known", id)
		}
		delete(k, id)
	}
	for _, s := range d.Suggestions {
		if was, ok := k[s.ID]; ok && reflect.DeepEqual(was, s) {
			r.Fatalf("%+v is told again", s)
		}
		k[s.ID] = s
	}
}

func (k known) check(r *rapid.T, who string, list []Suggestion) {
	want := make(known, len(list))
	for _, s := range list {
		s.Near = false // a list has it alone
		want[s.ID] = s
	}
	if !reflect.DeepEqual(k, want) {
		r.Fatalf("%s knows\n%+v\npending is\n%+v", who, k, want)
	}
}

// withoutLines is what the review page tells of suggestions, for which it does not matter where they stand.
func withoutLines(list []Suggestion) []Suggestion {
	list = slices.Clone(list)
	for i := range list {
		list[i].Line = min(list[i].Line, 1)
	}
	return list
}

// Whatever happens, and however much of it a client misses in between, who asks for the events behind the last one
// that it has knows what is pending, and is told nothing twice on one stream; and so does who follows that client, and
// tells others less.
func TestDeltasAddUp(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := bridgetest.New(t, map[string]string{"N/a.md": "one\ntwo\n", "N/b.md": "three\n", "N/sub/c.md": "four\n"})
		q, cancel := NewLocal(f.Workspace)
		defer cancel()
		ctx := t.Context()
		client, follower := known{}, known{}
		toClient, toFollower := newTold(), newTold()
		var seen uint64
		check := func() {
			if rapid.Bool().Draw(r, "the stream ends") {
				toClient, toFollower = newTold(), newTold()
			}
			all, err := q.since(ctx, seen)
			if err != nil {
				r.Fatal(err)
			}
			seen = all.Now
			d, err := toClient.lacking(all)
			if err != nil {
				r.Fatal(err)
			}
			client.apply(r, d)
			d.Suggestions = withoutLines(d.Suggestions)
			if d, err = toFollower.lacking(d); err != nil {
				r.Fatal(err)
			}
			follower.apply(r, d)
			list, err := q.List(ctx, false)
			if err != nil {
				r.Fatal(err)
			}
			client.check(r, "the client", list)
			follower.check(r, "who follows it", withoutLines(list))
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
