package fusefs

import (
	"strings"
	"testing"
)

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
			if got := carry(base, tt.theirs, tt.mine); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What I insert into a line that they dropped stays, the line does not come back.
func TestCarryIntoDroppedText(t *testing.T) {
	got := carry("one\nfour five six\nten\n", "one\nten\n", "one\nfour NEW five six\nten\n")
	if !strings.Contains(got, "NEW") || strings.Contains(got, "five") {
		t.Errorf("got %q", got)
	}
}

func TestNearest(t *testing.T) {
	images := []image{{text: "alpha beta gamma\n"}, {text: "alpha beta gamma\na person's words\n"}}
	if got := nearest(images, "alpha BETA gamma\n"); got != images[0] {
		t.Errorf("a change of the older one is taken for one of %q", got.text)
	}
	if got := nearest(images, "alpha BETA gamma\na person's words\n"); got != images[1] {
		t.Errorf("a change of the newer one is taken for one of %q", got.text)
	}
}
