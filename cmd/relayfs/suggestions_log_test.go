package main

import (
	"strings"
	"testing"
)

func TestUndoTellsTheWayOn(t *testing.T) {
	failed := map[string]string{"Notes/b.md": "cannot be taken back"}
	for _, tt := range []struct {
		out  outcome
		want string
	}{
		{outcome{Notes: 1}, ""},
		{outcome{Notes: 1, Failed: failed}, ""},
		{outcome{Failed: failed}, "relayfs suggestions log"},
		{outcome{Failed: failed, Older: "20260101T000000.000-abcd"}, "relayfs suggestions undo 20260101T000000.000-abcd 'my notes'"},
	} {
		err := tt.out.wayOn([]string{"my notes"})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%+v: %v, want %q", tt.out, err, tt.want)
		}
	}
}
