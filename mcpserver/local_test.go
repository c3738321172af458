package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/mcpserver"
)

func TestErrorsOfTheProtocol(t *testing.T) {
	_, srv := serve(t, map[string]string{"V/a.md": "foo\n"})
	c := connect(t, srv, "client")
	for name, tt := range map[string]struct{ in, want string }{
		"not JSON":       {"{", `"code":-32700`},
		"no version":     {`{"id":1,"method":"ping"}`, `"code":-32600`},
		"unknown method": {`{"jsonrpc":"2.0","id":1,"method":"no/such"}`, `"code":-32601`},
		"unknown tool":   {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Read"}}`, `"code":-32602,"message":"There is no tool \"Read\". The tools are read, glob, `},
		"notification":   {`{"jsonrpc":"2.0","method":"notifications/none"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(c.post([]byte(tt.in))); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A search ends when its call is cancelled.
func TestCancelledSearch(t *testing.T) {
	_, srv := serve(t, map[string]string{"V/a.md": "foo\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, _ := srv.NewSession(mcpserver.Client{Name: "test"}).Call(ctx, "grep", json.RawMessage(`{"pattern":"foo"}`))
	if !res.IsError || res.Text[0] != "The call was cancelled." {
		t.Errorf("got %+v", res)
	}
}

// What each tool returns is bounded, and says how to get the rest.
func TestOutputIsBounded(t *testing.T) {
	long := strings.Repeat("word [[Missing "+strings.Repeat("x", 80)+"]] and more words\n", 3000)
	notes := map[string]string{"V/long.md": long, "V/wide.md": strings.Repeat("wide ", 500_000)}
	for i := range 3000 {
		notes["V/"+strings.Repeat("sub/", 5)+strings.Repeat("n", 60)+string(rune('a'+i%26))+strings.Repeat("m", i/26)+".md"] = "word [[long]]\n"
	}
	_, srv := serve(t, notes)
	c := newTools(t, srv)
	for _, tt := range []struct {
		tool string
		args []any
		want string // how to get the rest
	}{
		{"read", []any{"file_path", "V/long.md"}, "offset:"},
		{"read", []any{"file_path", "V/wide.md"}, "column:"},
		{"grep", []any{"pattern", "word", "output_mode", "content", "head_limit", 0}, "next_cursor:"},
		{"grep", []any{"pattern", "word", "head_limit", 0}, "next_cursor:"},
		{"grep", []any{"pattern", "wide", "output_mode", "content"}, "line cut"},
		{"glob", []any{"pattern", "*"}, "more are not listed"},
		{"get_links", []any{"file_path", "V/long.md"}, "not listed"},
	} {
		if got := c.ok(tt.tool, tt.args...); len(got) > 40_000 || !strings.Contains(got, tt.want) {
			t.Errorf("%s %v: %d bytes, ending in %q", tt.tool, tt.args, len(got), got[max(0, len(got)-200):])
		}
	}
}

// Clients without a name of their own for changes are told apart by the name
// that they give.
func TestAuthors(t *testing.T) {
	f, srv := serve(t, map[string]string{"V/a.md": "one\n\ntwo\n\nthree\n"})
	unnamed := mcpserver.New(f.Workspace, mcpserver.Options{})
	t.Cleanup(unnamed.Close)
	for i, c := range []*rpc{connect(t, srv, "x"), connectWith(t, srv, "y", mcpserver.Client{Name: "test", Author: "Bob"}, nil), connect(t, unnamed, "gpt")} {
		c.callTool("read", map[string]any{"file_path": "V/a.md"})
		word := strings.Fields("one two three")[i]
		if text, isError := c.callTool("edit", map[string]any{"file_path": "V/a.md", "old_string": word, "new_string": strings.ToUpper(word)}); isError {
			t.Fatal(text)
		}
	}
	list, err := f.Suggestions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var authors []string
	sessions := make(map[string]bool)
	for _, sg := range list {
		authors = append(authors, sg.Author)
		sessions[sg.Session] = true
	}
	if got := strings.Join(authors, " "); got != "Agent Bob gpt" || len(sessions) != 3 {
		t.Errorf("authors %q in %d sessions", got, len(sessions))
	}
}

// The index forgets what changes: a search finds what is there now.
func TestSearchFollowsChanges(t *testing.T) {
	f, srv := serve(t, map[string]string{"V/a.md": "apple\n", "V/b.md": "pear\n"}, func(o *bridge.Options) { o.Structure = bridge.StructureDirect })
	c := newTools(t, srv)
	find := func(pattern, want string) {
		t.Helper()
		if got := c.ok("grep", "pattern", pattern); got != want {
			t.Errorf("grep %s: %q, want %q", pattern, got, want)
		}
	}
	find("apple", "V/a.md")
	f.Person("V/b.md", "apple pear\n")
	find("apple", "V/a.md\nV/b.md")
	f.Person("V/a.md", "plum\n")
	find("apple", "V/b.md")
	f.Person("V/c.md", "apple\n")
	find("apple", "V/b.md\nV/c.md")
	f.Rename("V/c.md", "V/d/e.md")
	find("apple", "V/b.md\nV/d/e.md")
	f.Rename("V/d", "V/f")
	find("apple", "V/b.md\nV/f/e.md")
	f.Delete("V/b.md")
	find("apple", "V/f/e.md")
	c.ok("read", "file_path", "V/f/e.md")
	c.ok("edit", "file_path", "V/f/e.md", "old_string", "apple", "new_string", "quince")
	find("apple", "No matches found")
	find("quince", "V/f/e.md")
	c.ok("move", "file_path", "V/f/e.md", "new_path", "V/g.md")
	find("quince", "V/g.md")
	c.ok("write", "file_path", "V/h.md", "content", "quince\n")
	find("quince", "V/g.md\nV/h.md")
}
