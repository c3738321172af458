package filereplace

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestMerge3(t *testing.T) {
	tests := []struct{ name, ancestor, theirs, ours, want string }{
		{"theirs above", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"},
		{"theirs below", "a\nb\nc\n", "a\nb\nC\n", "A\nb\nc\n", "A\nb\nC\n"},
		{"both append", "a\n", "a\ntheirs\n", "a\nours\n", "a\nours\ntheirs\n"},
		{"no final newline", "a\nb", "a\nb\nc", "A\nb", "A\nb\nc"},
		{"same change", "a\n", "b\n", "b\n", "b\n"},
		{"theirs did nothing", "a\nb\n", "a\nb\n", "a\nB\n", "a\nB\n"},
		{"adjacent lines", "a\nb\n", "A\nb\n", "a\nB\n", "A\nB\n"},
		{"from nothing", "", "theirs\n", "ours\n", "ours\ntheirs\n"},
		{"same line", "a\nb\n", "a\nx\n", "a\ny\n", "conflict"},
		{"all deleted", "a\nb\n", "", "a\nB\n", "conflict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := merge3([]byte(tt.ancestor), []byte(tt.theirs), []byte(tt.ours))
			if !ok {
				got = []byte("conflict")
			}
			if string(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if _, ok := merge3(nil, []byte("a"), []byte("b")); ok {
		t.Error("merged without an ancestor")
	}
}

// TestChangedLines: a hunk applied to before gives after, and covers whole lines.
func TestChangedLines(t *testing.T) {
	text := func(r *rand.Rand) string { return string(randomtest.Some(r, 0, 12, []rune("ab\né")...)) }
	randomtest.Check(t, 1000, func(t testing.TB, r *rand.Rand) {
		before, after := text(r), text(r)
		h := changedLines([]byte(before), []byte(after))
		if got := before[:h.start] + string(h.text) + before[h.end:]; got != after {
			t.Errorf("%+v makes %q, want %q", h, got, after)
		}
		if h.start > 0 && before[h.start-1] != '\n' {
			t.Errorf("hunk of %q begins within a line: %+v", before, h)
		}
		if h.end > 0 && h.end < len(before) && before[h.end-1] != '\n' && !strings.HasSuffix(before[:h.start], "\n") {
			t.Errorf("hunk of %q ends within a line: %+v", before, h)
		}
	})
}
