package mcpserver_test

import (
	"strings"
	"testing"
)

// An edit may give front matter to a note in which the client saw none. If a user has added front matter since, that of
// the edit would be a second block, in the body.
func TestEditAddsSecondFrontMatter(t *testing.T) {
	for _, user := range []string{"---\na: 2\n---\ntext\n", "---\na: 2\n---\n\ntext\n"} {
		f, srv := serve(t, map[string]string{"V/a.md": "text\n"})
		c := newTools(t, srv)
		c.ok("read", "file_path", "V/a.md")
		f.Person("V/a.md", user)
		res := c.call("edit", "file_path", "V/a.md", "old_string", "text", "new_string", "---\nb: 3\n---\ntext")
		if text := strings.Join(res.Text, ""); !res.IsError || !strings.Contains(text, "the front matter has changed since it was read; read the note again") {
			t.Errorf("got %q", text)
		}
		if got := f.SourceText("V/a.md"); got != user {
			t.Errorf("the source has %q, want %q", got, user)
		}
		if c.ok("edit", "file_path", "V/a.md", "old_string", "text", "new_string", "text X"); f.SourceText("V/a.md") != strings.Replace(user, "text", "text{++ X++}", 1) {
			t.Errorf("another edit: the source has %q", f.SourceText("V/a.md"))
		}
	}
}
