package textmerge_test

import (
	"testing"

	"github.com/relayfs/relayfs/bridge/textmerge"
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
