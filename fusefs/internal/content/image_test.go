package content

import (
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/diffwrap"
)

// written is the text that becomes of a write by who was shown text where the note has theirs.
func written(text, theirs, mine string) string {
	return Write([]Image{{Text: text, Version: model.NewVersion(theirs, diffwrap.AcceptedView, time.Now())}}, mine).Text
}

func TestCarry(t *testing.T) {
	const base = "one two three\nfour five six\nseven eight nine\n"
	tests := []struct{ name, theirs, mine, want string }{
		{"nothing", base, base, base},
		{"mine only", base, "one 2 three\nfour five six\nseven eight nine\n", "one 2 three\nfour five six\nseven eight nine\n"},
		{"theirs only", "zero\n" + base, base, "zero\n" + base},
		{"apart", "zero\n" + base, base + "ten\n", "zero\n" + base + "ten\n"},
		{"same line", "one TWO three\nfour five six\nseven eight nine\n", "one two three\nfour five 6\nseven eight nine\n", "one TWO three\nfour five 6\nseven eight nine\n"},
		{"the same replacement", "one TWO three\nfour five six\nseven eight nine\n", "one TWO three\nfour five six\nseven eight nine\n", "one TWO three\nfour five six\nseven eight nine\n"},
		{"a line that they dropped", "one two three\nseven eight nine\n", "one two three\nfour five six\nseven eight nine\nten\n", "one two three\nseven eight nine\nten\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := written(base, tt.theirs, tt.mine); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What I insert into a line that they dropped stays, the line does not come back.
func TestCarryIntoDroppedText(t *testing.T) {
	got := written("one\nfour five six\nten\n", "one\nten\n", "one\nfour NEW five six\nten\n")
	if !strings.Contains(got, "NEW") || strings.Contains(got, "five") {
		t.Errorf("got %q", got)
	}
}

func TestNearest(t *testing.T) {
	shown := []Image{{Text: "alpha beta gamma\n"}, {Text: "alpha beta gamma\na person's words\n"}}
	for i := range shown {
		shown[i].Version = model.NewVersion(shown[i].Text+"more\n", diffwrap.AcceptedView, time.Now())
	}
	if got := Write(shown, "alpha BETA gamma\n").Bases[0]; got != shown[0].Version {
		t.Errorf("a change of the older one is taken for one of %q", got.Text())
	}
	if got := Write(shown, "alpha BETA gamma\na person's words\n").Bases[0]; got != shown[1].Version {
		t.Errorf("a change of the newer one is taken for one of %q", got.Text())
	}
}
