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
	_, rebased := Image{Text: text, Version: model.NewVersion(theirs, diffwrap.AcceptedView, time.Now())}.Rebase(mine)
	return rebased
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

func TestHasChangesTo(t *testing.T) {
	for _, tt := range []struct {
		shown, next, text string
		want              bool
	}{
		{"a\nb\n", "a\nb\n", "a\n", false}, // there is no change
		{"a\nb\n", "a\nb\nc\n", "a\nb\n", false},
		{"a\nb\n", "a\nb\nc\n", "a\nb\nd\n", false}, // another line, however alike
		{"a\nb\n", "a\nb\nc\n", "a\nb\nc\nd\n", true},
		{"a\nb\n", "a\nb\na\n", "a\nb\n", false}, // a second one
		{"a\nb\n", "b\n", "a\nb\nc\n", false},
		{"a\nb\n", "b\n", "b\nc\n", false}, // "a" may have become "c"
		{"a\nb\n", "b\nd\n", "b\nd\nc\n", true},
		{"a\nb\n", "a\nB\n", "a\nb\nB\n", false},
		{"a\nb\n", "a\nc\nb", "a\nd\nc\nb\n", true}, // the writer ends the last line
		{"a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\nb\nc\nd\n", true},
	} {
		if got := (Image{Text: tt.shown}).HasChangesTo(Image{Text: tt.next}, tt.text); got != tt.want {
			t.Errorf("from %q to %q, in %q: %v", tt.shown, tt.next, tt.text, got)
		}
	}
}
