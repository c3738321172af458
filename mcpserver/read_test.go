package mcpserver

import (
	"fmt"
	"strings"
	"testing"
)

func TestNumbered(t *testing.T) {
	many := strings.Repeat("x\n", 2500)
	for _, tt := range []struct {
		name, doc     string
		offset, limit int
		want          string
		notice        string
	}{
		{"layout", "a\nb\n", 0, 0, "     1\ta\n     2\tb", ""},
		{"no final newline", "a\nb", 0, 0, "     1\ta\n     2\tb", ""},
		{"blank lines", "\n\na\n\n", 0, 0, "     1\t\n     2\t\n     3\ta\n     4\t", ""},
		{"CRLF and BOM", "\ufeffa\r\nb\r\n", 0, 0, "     1\ta\n     2\tb", ""},
		{"offset", "a\nb\nc\n", 2, 0, "     2\tb\n     3\tc", ""},
		{"offset and limit", "a\nb\nc\n", 2, 1, "     2\tb", "[Showing lines 2-2 of 3. Call read with offset: 3 to see more.]"},
		{"empty", "", 0, 0, "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>", ""},
		{"past the end", many, 9000, 0,
			"<system-reminder>Warning: the file exists but is shorter than the provided offset (9000). The file has 2500 lines.</system-reminder>", ""},
		{"last line", "a\nb\n", 2, 5, "     2\tb", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := numbered(tt.doc, tt.offset, tt.limit)
			if got.text != tt.want || got.notice != tt.notice {
				t.Errorf("got %q, notice %q", got.text, got.notice)
			}
		})
	}
}

func TestNumberedLimits(t *testing.T) {
	t.Run("default lines", func(t *testing.T) {
		got := numbered(strings.Repeat("x\n", 2500), 0, 0)
		if n := strings.Count(got.text, "\n") + 1; n != 2000 {
			t.Errorf("%d lines", n)
		}
		if want := "[Showing lines 1-2000 of 2500. Call read with offset: 2001 to see more.]"; got.notice != want {
			t.Errorf("notice %q, want %q", got.notice, want)
		}
	})
	t.Run("long lines", func(t *testing.T) {
		got := numbered(strings.Repeat("ä", 3000)+"\nb\n", 0, 0)
		if want := "     1\t" + strings.Repeat("ä", 2000) + "\n     2\tb"; got.text != want {
			t.Errorf("got %d bytes, want %d", len(got.text), len(want))
		}
		if !strings.Contains(got.notice, "Lines over 2000 characters were cut") {
			t.Errorf("notice %q", got.notice)
		}
	})
	t.Run("never inside a character", func(t *testing.T) {
		family := "👩‍👩‍👧‍👦"
		got := numbered(strings.Repeat("x", 1999)+family+family, 0, 0)
		if want := "     1\t" + strings.Repeat("x", 1999); got.text != want {
			t.Errorf("ends in %q", got.text[len(got.text)-20:])
		}
	})
	t.Run("bytes", func(t *testing.T) {
		var doc strings.Builder
		for i := range 1500 {
			fmt.Fprintf(&doc, "%d %s\n", i, strings.Repeat("y", 200))
		}
		got := numbered(doc.String(), 0, 0)
		if len(got.text) > maxOutput || len(got.text) < maxOutput/2 {
			t.Errorf("%d bytes", len(got.text))
		}
		last := strings.Count(got.text, "\n") + 1
		if want := fmt.Sprintf("[Showing lines 1-%d of 1500. Call read with offset: %d to see more.]", last, last+1); got.notice != want {
			t.Errorf("notice %q, want %q", got.notice, want)
		}
	})
}
