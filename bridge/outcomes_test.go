package bridge_test

import (
	"slices"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// What a user did by hand is read from the text.
func TestOutcomesByHand(t *testing.T) {
	const raw = "The {--quick--}{++slow++} fox{++ always++} jumps{-- over--}.\n"
	for name, tt := range map[string]struct {
		after    string
		verdicts []model.Verdict
		now      string // of the one that changed
		comment  string // of the first
	}{
		"nothing":                {raw, nil, "", ""},
		"text elsewhere":         {"Once. " + raw + "More.\n", nil, "", ""},
		"all accepted":           {"The slow fox always jumps.\n", []model.Verdict{"accepted", "accepted", "accepted"}, "", ""},
		"all rejected":           {"The quick fox jumps over.\n", []model.Verdict{"rejected", "rejected", "rejected"}, "", ""},
		"one accepted":           {"The slow fox{++ always++} jumps{-- over--}.\n", []model.Verdict{"accepted"}, "", ""},
		"one rejected":           {"The {--quick--}{++slow++} fox jumps{-- over--}.\n", []model.Verdict{"rejected"}, "", ""},
		"other words":            {"The lazy fox{++ always++} jumps{-- over--}.\n", []model.Verdict{"changed"}, "lazy", ""},
		"the proposal changed":   {"The {--quick--}{++sleepy++} fox{++ always++} jumps{-- over--}.\n", []model.Verdict{"changed"}, "sleepy", ""},
		"rejected with a reason": {"The quick{>>It is a pangram.<<} fox{++ always++} jumps{-- over--}.\n", []model.Verdict{"rejected"}, "", "It is a pangram."},
	} {
		t.Run(name, func(t *testing.T) {
			f := bridgetest.New(t, map[string]string{plan: raw})
			since, err := f.Open(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			f.Person(plan, tt.after)
			current, err := f.Open(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Outcomes(plan, since, current, diffwrap.Suggestions(raw))
			if err != nil {
				t.Fatal(err)
			}
			var verdicts []model.Verdict
			for _, r := range got {
				verdicts = append(verdicts, r.Verdict)
				if r.Now != tt.now {
					t.Errorf("now %q, want %q", r.Now, tt.now)
				}
			}
			if !slices.Equal(verdicts, tt.verdicts) {
				t.Errorf("verdicts %v, want %v", verdicts, tt.verdicts)
			}
			if tt.comment != "" && (len(got) == 0 || !slices.Equal(got[0].Comments, []string{tt.comment})) {
				t.Errorf("comments of %+v, want %q", got, tt.comment)
			}
		})
	}
}

// What was decided through relayfs is in the journal, whatever the text became
// since.
func TestOutcomesFromTheJournal(t *testing.T) {
	f := bridgetest.New(t, map[string]string{plan: "one\ntwo\nthree\n"})
	write(t, f.Workspace, plan, bridge.Write{Text: "ONE\ntwo\nTHREE\n", By: ann})
	since, err := f.Open(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	list := pendingOf(t, f.Workspace)
	decide(t, f.Workspace, model.Accepted, list[0].ID)
	why := model.Author{Name: "person", Reason: "too loud"}
	if out, err := f.Decide(t.Context(), []string{list[1].ID}, model.Rejected, why); err != nil || len(out.Failed) > 0 {
		t.Fatal(out.Failed, err)
	}
	f.Person(plan, "something else\n")
	current, err := f.Open(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Outcomes(plan, since, current, diffwrap.Suggestions(since.Raw()))
	if err != nil || len(got) != 2 || got[0].Verdict != model.Accepted || got[1].Verdict != model.Rejected || got[1].Reason != "too loud" {
		t.Errorf("outcomes %+v, %v", got, err)
	}
}

// The text that a user accepts instead of the suggested text is in the outcome.
func TestOutcomeOfAmend(t *testing.T) {
	for _, c := range []struct{ text, now string }{{"uno", "uno"}, {"", ""}} {
		f := bridgetest.New(t, map[string]string{plan: "one\ntwo\n"})
		write(t, f.Workspace, plan, bridge.Write{Text: "ONE\ntwo\n", By: ann})
		since, err := f.Open(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := f.Amend(t.Context(), pendingOf(t, f.Workspace)[0].ID, c.text, person); err != nil || len(out.Failed) > 0 {
			t.Fatal(out.Failed, err)
		}
		current, err := f.Open(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Outcomes(plan, since, current, diffwrap.Suggestions(since.Raw()))
		if err != nil || len(got) != 1 || got[0].Verdict != model.Changed || got[0].Now != c.now {
			t.Errorf("outcomes %+v, %v; want %q", got, err, c.now)
		}
	}
}
