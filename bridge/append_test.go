package bridge_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/bridge/model"
)

// What a program appends to a note is one suggestion, also if the note's last line has no line break. Accepting it gives
// what was written, rejecting it gives what was there.
func TestAnAppendIsOneSuggestion(t *testing.T) {
	for _, old := range []string{"one\ntwo", "one\ntwo\n", "one\n\n- two", "two", "one\r\ntwo"} {
		for _, appended := range []string{"x\n", "x", "x\ny\n", "\nx\n", "\nx"} {
			for verdict, want := range map[model.Verdict]string{model.Accepted: old + appended, model.Rejected: old} {
				src, store := bridgetest.NewSource(t), bridgetest.NewStore(t)
				src.Person(t).Save("Plan.md", old)
				ws := process(t, src, store)
				write(t, ws, plan, bridge.Write{Text: old + appended, By: agent})
				ids := idsOf(pendingOf(t, ws))
				if len(ids) != 1 {
					t.Errorf("%q with %q appended has %d suggestions: %q", old, appended, len(ids), src.Person(t).Content("Plan.md"))
				}
				if _, err := ws.Decide(t.Context(), ids, verdict, model.Author{Name: "pat"}); err != nil {
					t.Fatal(err)
				}
				if got := src.Person(t).Content("Plan.md"); got != want {
					t.Errorf("%q with %q appended and %v: %q, want %q", old, appended, verdict, got, want)
				}
			}
		}
	}
}
