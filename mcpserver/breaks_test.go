package mcpserver_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/relayfs/relayfs/mcpserver"
)

// In a document with line breaks of both kinds, those that a change does not touch
// stay as they are.
func TestMixedLineBreaksStay(t *testing.T) {
	const mixed = "a\r\nb\nc\r\nd\ne"
	f, srv := serve(t, map[string]string{"V/edit.md": mixed, "V/write.md": mixed, "V/lf.md": "a\nb\r\nc\n"})
	c := newTools(t, srv)
	for _, p := range []string{"V/edit.md", "V/write.md", "V/lf.md"} {
		c.ok("read", "file_path", p)
	}
	c.ok("edit", "file_path", "V/edit.md", "old_string", "b\nc", "new_string", "B\nC")
	c.ok("write", "file_path", "V/write.md", "content", "a\nb\nnew\nC\nd\ne")
	c.ok("write", "file_path", "V/lf.md", "content", "a\nx\nb\nc\n")
	for p, want := range map[string]string{
		"V/edit.md":  "a\r\n{--b--}{++B++}\n{--c--}{++C++}\r\nd\ne",
		"V/write.md": "a\r\nb{--\nc--}{++\nnew\r\nC++}\r\nd\ne",
		"V/lf.md":    "a{++\nx++}\nb\r\nc\n",
	} {
		if got := f.SourceText(p); got != want {
			t.Errorf("%s: %q, want %q", p, got, want)
		}
	}
}

func TestInBreaksOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]string{"a", "é", "\U0001F600", "\n", "\r\n"}))
		base := strings.Join(text.Draw(t, "base"), "")
		s := strings.ReplaceAll(strings.Join(text.Draw(t, "s"), ""), "\r\n", "\n")
		plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
		got := mcpserver.InBreaksOf(base, s, rapid.Bool().Draw(t, "crlf"))
		if plain(got) != s {
			t.Fatalf("%q in the breaks of %q is %q", s, base, got)
		}
		if s == plain(base) && got != base && strings.Contains(base, "\n") {
			t.Fatalf("%q comes back as %q", base, got)
		}
	})
}
