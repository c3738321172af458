package diffwrap_test

import (
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
)

// A program that saves a note again and again is warned of an opener without a closer by the write after which the
// first suggestion follows the opener, and not by each write after it.
func TestUnclosedOpenerIsReportedOnce(t *testing.T) {
	raw, known := "Let $A^{--}$ be one.\n", diffwrap.Known{}
	for i, step := range []struct {
		text string
		want int
	}{
		{"Let $A^{--}$ be one or two.\n", 1},
		{"Let $A^{--}$ be one or two or three.\n", 0},
		{"Now let $A^{--}$ be one or two or three.\n", 0},
	} {
		r, err := diffwrap.Options{Known: known}.Put(raw, step.text)
		if err != nil {
			t.Fatal(err)
		}
		if raw, known = diffwrap.Apply(raw, r.Edits), r.Known; len(r.Warnings) != step.want {
			t.Errorf("step %d, %q: got the warnings %q, want %d", i, raw, r.Warnings, step.want)
		}
	}
}
