package main

import (
	"strings"
	"testing"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/reviewqueue"
)

func TestUndoTellsTheWayOn(t *testing.T) {
	failed := map[string]string{"Notes/b.md": "cannot be taken back"}
	for _, tt := range []struct {
		out  reviewqueue.Outcome
		want string
	}{
		{reviewqueue.Outcome{Notes: 1}, ""},
		{reviewqueue.Outcome{Notes: 1, Failed: failed}, ""},
		{reviewqueue.Outcome{Failed: failed}, "relayfs suggestions log"},
		{reviewqueue.Outcome{Failed: failed, Older: "20260101T000000.000-abcd"}, "relayfs suggestions undo 20260101T000000.000-abcd 'my notes'"},
	} {
		err := nextUndoHint(&tt.out, []string{"my notes"})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.out, err, tt.want)
		}
	}
}
