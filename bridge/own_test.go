package bridge_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

func TestWhoseSuggestionIsIt(t *testing.T) {
	const base = "Bring coffee and cups for everybody who helps on the day.\n"
	bob := model.Author{Name: "bob"}
	tests := []struct {
		name   string
		ann    string              // what ann writes first, "" for nothing
		person func(string) string // what a person then makes of the raw text
		by     model.Author
		old    string // what by then changes in the view
		new    string
		want   string // raw afterwards; "" if it is refused
	}{
		{name: "one's own is amended", ann: strings.Replace(base, "coffee", "tea", 1), by: ann, old: "tea", new: "milk",
			want: strings.Replace(base, "coffee", "{--coffee--}{++milk++}", 1)},
		{name: "another agent's is not", ann: strings.Replace(base, "coffee", "tea", 1), by: bob, old: "tea", new: "milk"},
		{name: "a person's is not", person: func(raw string) string { return strings.Replace(raw, "coffee", "{--coffee--}{++tea++}", 1) },
			by: ann, old: "tea", new: "milk"},
		{name: "what a person typed into one's own is deleted as a proposal",
			ann:    strings.Replace(base, "coffee", "green tea", 1),
			person: func(raw string) string { return strings.Replace(raw, "green tea", "green jasmine tea", 1) },
			by:     ann, old: "green jasmine tea", new: "milk",
			want: strings.Replace(base, "coffee ", "{--coffeejasmine --}{++milk++} ", 1)},
		{name: "beside a person's goes on", person: func(raw string) string { return strings.Replace(raw, "coffee", "{--coffee--}{++tea++}", 1) },
			by: ann, old: "cups", new: "mugs",
			want: strings.Replace(strings.Replace(base, "coffee", "{--coffee--}{++tea++}", 1), "cups", "{--cups--}{++mugs++}", 1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{plan: base})
			if tt.ann != "" {
				write(t, f.Workspace, plan, bridge.Write{Text: tt.ann, By: ann})
			}
			if tt.person != nil {
				f.Person(plan, tt.person(f.SourceText(plan)))
			}
			before := f.SourceText(plan)
			text := strings.Replace(open(t, f.Workspace, plan).Text(), tt.old, tt.new, 1)
			_, err := f.Write(t.Context(), plan, bridge.Write{Text: text, By: tt.by})
			if tt.want == "" {
				if !errors.Is(err, diffwrap.ErrForeign) || !errors.Is(err, model.ErrRefused) || f.SourceText(plan) != before {
					t.Errorf("%v, and the source holds %q; want a refusal and %q", err, f.SourceText(plan), before)
				}
				return
			}
			if got := f.SourceText(plan); err != nil || got != tt.want {
				t.Errorf("%v, source %q, want %q", err, got, tt.want)
			}
		})
	}
}

// What an interrupted write left in the file is still its author's to amend.
func TestInterruptedWriteStaysItsAuthors(t *testing.T) {
	src, store := new(bridgetest.Source), new(bridgetest.Store)
	src.Person(t).Save("Plan.md", "one two three four five\n")
	killed(t, src, store, func(ws *bridge.Workspace) error {
		_, err := ws.Write(t.Context(), plan, bridge.Write{Text: "one TWO three four five\n", By: ann})
		return err
	})
	ws := process(t, src, store)
	write(t, ws, plan, bridge.Write{Text: "one 2 three four five\n", By: ann})
	if got, want := src.Person(t).Content("Plan.md"), "one {--two--}{++2++} three four five\n"; got != want {
		t.Errorf("file %q, want %q", got, want)
	}
}
