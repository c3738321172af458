package textmerge_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/relayfs/relayfs/bridge/textmerge"
	"github.com/relayfs/relayfs/tests/randomtest"
)

func TestUTF16Cursor(t *testing.T) {
	text := "aé😀\n漢b"
	c := textmerge.NewCursor(text)
	for _, tt := range []struct{ off, pos int }{{0, 0}, {1, 1}, {3, 2}, {7, 4}, {8, 5}, {11, 6}, {12, 7}} {
		if got := c.PosAt(tt.off); got != tt.pos {
			t.Errorf("posAt(%d) = %d, want %d", tt.off, got, tt.pos)
		}
		back := textmerge.NewCursor(text)
		if got := back.OffAt(tt.pos); got != tt.off {
			t.Errorf("offAt(%d) = %d, want %d", tt.pos, got, tt.off)
		}
	}
	inside := textmerge.NewCursor(text)
	if got := inside.OffAt(3); got != 7 {
		t.Errorf("offAt inside a surrogate pair = %d, want 7, behind the pair", got)
	}
	if got := textmerge.UTF16Len(text); got != 7 {
		t.Errorf("utf16Len = %d, want 7", got)
	}
}

// TestUTF16CursorModel asks for places in random texts, in steps of random lengths and in random order.
func TestUTF16CursorModel(t *testing.T) {
	randomtest.Check(t, 2000, func(t testing.TB, rng *rand.Rand) {
		var b strings.Builder
		for range rng.IntN(60) {
			b.WriteString([]string{"a", "bc def gh ", "é", "漢", "😀", "\n"}[rng.IntN(6)])
		}
		text := b.String()
		var at, units []int // of each character, and of the end
		pos := 0
		for off, r := range text {
			at, units = append(at, off), append(units, pos)
			pos += utf16.RuneLen(r)
		}
		at, units = append(at, len(text)), append(units, pos)
		forward, back := textmerge.NewCursor(text), textmerge.NewCursor(text)
		for i := 0; i < len(at); i += 1 + rng.IntN(20) {
			if got := forward.PosAt(at[i]); got != units[i] {
				t.Fatalf("%q: PosAt(%d) = %d, want %d", text, at[i], got, units[i])
			}
			if got := back.OffAt(units[i]); got != at[i] {
				t.Fatalf("%q: OffAt(%d) = %d, want %d", text, units[i], got, at[i])
			}
		}
		for range 20 {
			i := rng.IntN(len(at))
			if got := forward.PosAt(at[i]); got != units[i] {
				t.Fatalf("%q: PosAt(%d) in random order = %d, want %d", text, at[i], got, units[i])
			}
		}
		if got := textmerge.UTF16Len(text); got != pos {
			t.Fatalf("UTF16Len(%q) = %d, want %d", text, got, pos)
		}
	})
}
