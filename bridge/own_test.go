package bridge_test

import (
	"cmp"
	"errors"
	"fmt"
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
		person func(string) string // what a user then makes of the raw text
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
	src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
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

// What each session of an author wrote stays its own when a later one writes next to it or in it.
func TestSessionsKeepWhatTheyWrote(t *testing.T) {
	const base = "one two three four\n"
	for _, tt := range []struct {
		name, first, second string // what the sessions make of the note
		raw                 string
		withoutSecond       string // what is proposed once the second session is undone
		withoutFirst        string // and the first instead
	}{
		{"behind an addition", "one two X three four\n", "one two X Y three four\n", "one two {++X ++}{++Y ++}three four\n",
			"one two X three four\n", "one two Y three four\n"},
		{"in an addition", "one two a b three four\n", "one two a c b three four\n", "one two {++a c b ++}three four\n",
			base, "one two a c b three four\n"},
		{"less than was added", "one two a b three four\n", "one two b three four\n", "one two {++b ++}three four\n",
			base, "one two b three four\n"},
		{"less than was deleted", "one four\n", "one two four\n", "one two {--three --}four\n",
			base, "one two four\n"},
		{"a longer word", "one 2 three four\n", "one 22 three four\n", "one {--two--}{++22++} three four\n",
			base, "one 22 three four\n"},
		{"one amended, one beside", "one 2 three 4\n", "one 3 three X 4\n", "one {--two--}{++3++} three {++X ++}{--four--}{++4++}\n",
			"one two three 4\n", "one 3 three X four\n"},
		{"behind a replacement", "one 2 three four\n", "one 2 3 four\n", "one {--two--}{++2++} {--three--}{++3++} four\n",
			"one 2 three four\n", "one two 3 four\n"},
		{"beside a deletion", "one three four\n", "one X three four\n", "one {++X ++}{--two --}three four\n",
			"one three four\n", "one X two three four\n"},
		{"a longer deletion", "one three four\n", "one four\n", "one {--two --}{--three --}four\n", "one three four\n", "one two four\n"},
		{"in place of a replacement", "one 2 three four\n", "one Z three four\n", "one {--two--}{++Z++} three four\n", base, "one Z three four\n"},
		{"a deletion taken back", "one three four\n", base, base, base, base},
		{"elsewhere", "1 two three four\n", "1 two three 4\n", "{--one--}{++1++} two three {--four--}{++4++}\n", "1 two three four\n", "one two three 4\n"},
	} {
		for undone, want := range map[string]string{"s1": tt.withoutFirst, "s2": tt.withoutSecond} {
			for _, live := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, without %s, live %v", tt.name, undone, live), func(t *testing.T) {
					d := newDesk(t, base, live)
					for i, text := range []string{tt.first, tt.second} {
						write(t, d.f.Workspace, d.note, bridge.Write{Text: text, By: model.Author{Name: "ann", Session: fmt.Sprintf("s%d", i+1)}})
					}
					says(tt.raw)(d)
					if _, err := d.f.UndoSession(t.Context(), undone, person); err != nil && !errors.Is(err, bridge.ErrNothingToUndo) {
						t.Fatal(err)
					}
					if got := open(t, d.f.Workspace, d.note).Text(); got != want {
						t.Errorf("left is %q, want %q", got, want)
					}
					for _, s := range pendingOf(t, d.f.Workspace) {
						if s.Session == undone {
							t.Errorf("still waiting: %+v", s)
						}
					}
				})
			}
		}
	}
}

// Marks that a user's program puts instead of an agent's are the user's, and wait as such: nothing of
// the agent's is left in them. What is typed between the delimiters of one mark is plain, even if it is all that stands there.
func TestPersonsMarkInThePlaceOfAnAgents(t *testing.T) {
	const base = "one two three\n"
	for _, tt := range []struct {
		name, text, save string // what ann writes, and what the user makes of the note
		want             string // what waits, by whom
		accepted         string // what all of that makes of the note
	}{
		{"a replacement", "one 2 three\n", "one {--mine--}{++yours++} three\n", `person "mine" "yours"`, "one yours three\n"},
		{"an addition for a replacement", "one 2 three\n", "one {++mine++} three\n", `person "" "mine"`, "one mine three\n"},
		{"a deletion for a replacement", "one 2 three\n", "one {--mine--} three\n", `person "mine" ""`, "one  three\n"},
		{"a substitution", "one 2 three\n", "one {~~mine~>yours~~} three\n", `person "mine" "yours"`, "one yours three\n"},
		{"a replacement for an addition", "one two X three\n", "one two {--mine--}{++yours++} three\n", `person "mine" "yours"`, "one two yours three\n"},
		{"an addition for a deletion", "one three\n", "one {++mine ++}three\n", `person "" "mine "`, "one mine three\n"},
		{"one with other breaks", "one two three\n\nmore\n", "one two three\n{++\nmine\n++}", `person "" "\nmine\n"`, "one two three\n\nmine\n"},
		{"beside another of the agent's", "1 two 3\n", "{--one--}{++1++} two {++mine++}\n", `ann "one" "1", person "" "mine"`, "1 two mine\n"},
		{"typed into it", "one two X three\n", "one two {++Xmine ++}three\n", `ann "" "X "`, "one two Xmine three\n"},
		{"typed for its words", "one two X three\n", "one two {++mine ++}three\n", `ann "" " "`, "one two mine three\n"},
		{"typed for the words of a deletion", "one three\n", "one {--mine --}three\n", `ann " " ""`, "one minethree\n"},
		{"typed into one half", "one 2 three\n", "one {--mine--}{++2++} three\n", `ann "" "2"`, "one mine2 three\n"},
		{"typed into blank lines", "one two three\n\n\n\n", "one two three{++\nmine\n\n++}\n", `ann "" "\n\n\n"`, "one two three\nmine\n\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{plan: base})
			write(t, f.Workspace, plan, bridge.Write{Text: tt.text, By: ann})
			f.Person(plan, tt.save)
			var waits []string
			for _, s := range pendingOf(t, f.Workspace) {
				waits = append(waits, fmt.Sprintf("%s %q %q", cmp.Or(s.Author, "person"), s.Old, s.New))
			}
			if got := strings.Join(waits, ", "); got != tt.want {
				t.Errorf("waiting: %s, want %s; agents read %q", got, tt.want, open(t, f.Workspace, plan).Text())
			}
			decide(t, f.Workspace, model.Accepted, ids(pendingOf(t, f.Workspace))...)
			if got := f.SourceText(plan); got != tt.accepted {
				t.Errorf("accepted: %q, want %q", got, tt.accepted)
			}
		})
	}
}

// A session that changes its own text in the middle of an earlier session's suggestion does not amend that one.
func TestSessionInTheMiddleOfAnother(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "apples\n"})
	later := model.Author{Name: ann.Name, Session: "s2"}
	write(t, f.Workspace, plan, bridge.Write{Text: "apples\n| fall | é |\n", By: ann})
	list, err := f.Suggestions(t.Context(), "Notes")
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	decide(t, f.Workspace, model.Accepted, list[0].ID)
	write(t, f.Workspace, plan, bridge.Write{Text: "apples\n| old | é |\n", By: later})
	undo(t, f.Workspace, "")
	write(t, f.Workspace, plan, bridge.Write{Text: "apples\n| river | é |\n", By: later})
	left, err := f.Suggestions(t.Context(), "Notes")
	if err != nil || len(left) != 2 {
		t.Fatalf("%+v, %v", left, err)
	}
	if left[0].ID != list[0].ID || left[0].Session != ann.Session || left[1].Session != later.Session {
		t.Errorf("the suggestions are of %q and %q: %q", left[0].Session, left[1].Session, f.SourceText(plan))
	}
}
