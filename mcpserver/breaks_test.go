package mcpserver_test

import "testing"

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
