package bridge

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/textmerge"
)

var timeZero time.Time

func TestCleanPath(t *testing.T) {
	long := strings.Repeat("x", 256)
	tests := []struct {
		in   string
		want Path
		err  error
	}{
		{"Notes/a.md", "Notes/a.md", nil},
		{"/Notes//./a.md/", "Notes/a.md", nil},
		{"", "", nil},
		{"Notes/../a.md", "", ErrBadName},
		{"..", "", ErrBadName},
		{"Notes/a\x00.md", "", ErrBadName},
		{"Notes/\xff.md", "", ErrBadName},
		{"Notes/" + long, "", ErrNameTooLong},
		{strings.Repeat("a/", 3000), "", ErrNameTooLong},
		{"Notes/..a.md", "Notes/..a.md", nil},
	}
	for _, tt := range tests {
		got, err := CleanPath(tt.in)
		if got != tt.want || !errors.Is(err, tt.err) {
			t.Errorf("CleanPath(%.40q) = %q, %v; want %q, %v", tt.in, got, err, tt.want, tt.err)
		}
	}
}

func TestPathParts(t *testing.T) {
	p := Path("Notes/sub/a.MD")
	folder, rel := p.Split()
	if folder != "Notes" || rel != "sub/a.MD" || p.Dir() != "Notes/sub" || p.Base() != "a.MD" || !p.IsNote() {
		t.Errorf("parts of %q: %q %q %q %q note=%v", p, folder, rel, p.Dir(), p.Base(), p.IsNote())
	}
	if !Path("Notes").Contains(p) || Path("Note").Contains(p) || !Path("").Contains(p) || !p.Contains(p) {
		t.Error("Contains mistakes a prefix for a folder")
	}
	if Path("Notes").Dir() != "" || Path("").Join("a") != "a" {
		t.Error("the workspace is the parent of a Folder")
	}
}

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
