package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

// result decodes the result of a request that must succeed.
func result[T any](t *testing.T, c *rpc, method string, params any) (v T) {
	t.Helper()
	r := c.request(method, params)
	if r.Error != nil {
		t.Fatalf("%s: %s", method, r.Error.Message)
	}
	if err := json.Unmarshal(r.Result, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

type resourceList struct {
	Resources  []struct{ URI, Name, MIMEType string }
	NextCursor string
}

func TestResourceList(t *testing.T) {
	notes := make(map[string]string)
	for i := range 1200 {
		notes[fmt.Sprintf("V/d%d/n %d.md", i%7, i)] = "x"
	}
	_, srv := serve(t, notes)
	c := connect(t, srv, "client")
	var got []string
	params := map[string]any{}
	pages := 0
	for {
		page := result[resourceList](t, c, "resources/list", params)
		pages++
		for _, r := range page.Resources {
			got = append(got, r.Name)
			if want := "note:///" + strings.ReplaceAll(r.Name, " ", "%20"); r.URI != want || r.MIMEType != "text/markdown" {
				t.Fatalf("%+v, want the address %s", r, want)
			}
		}
		if page.NextCursor == "" {
			break
		}
		params["cursor"] = page.NextCursor
	}
	if pages < 3 || pages > 8 || len(got) != 1200 || !slices.IsSorted(got) || len(slices.Compact(got)) != 1200 {
		t.Errorf("%d notes on %d pages", len(got), pages)
	}
	if r := c.request("resources/list", map[string]any{"cursor": "!"}); r.Error == nil {
		t.Error("a cursor that is none is taken")
	}
}

// A note that a client has read as a resource may be edited.
func TestResourceRead(t *testing.T) {
	_, srv := serve(t, map[string]string{"V/My note.md": "One {--two--}{++three++}.\n"})
	c := connect(t, srv, "client")
	type contents struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	got := result[contents](t, c, "resources/read", map[string]any{"uri": "note:///V/My%20note.md"})
	if len(got.Contents) != 1 || got.Contents[0].Text != "One three.\n" || got.Contents[0].URI != "note:///V/My%20note.md" {
		t.Errorf("got %+v", got)
	}
	if text, isError := c.callTool("edit", map[string]any{"file_path": "V/My note.md", "old_string": "One", "new_string": "Two"}); isError {
		t.Error(text)
	}
	for _, uri := range []string{"note:///V/none.md", "note:///V/../x.md", "file:///V/My%20note.md", "note://host/V/My%20note.md", "%"} {
		if r := c.request("resources/read", map[string]any{"uri": uri}); r.Error == nil {
			t.Errorf("%s is read", uri)
		}
	}
}

func TestResourceSubscription(t *testing.T) {
	f, srv := serve(t, map[string]string{"V/a.md": "one\n", "V/b.md": "one\n"})
	c, other := connect(t, srv, "client"), connect(t, srv, "other")
	result[struct{}](t, c, "resources/subscribe", map[string]any{"uri": "note:///V/a.md"})
	f.Person("V/b.md", "two\n")
	f.Person("V/a.md", "two\n")
	select {
	case n := <-c.notices:
		if n.Method != "notifications/resources/updated" || !strings.Contains(string(n.Params), `"note:///V/a.md"`) {
			t.Errorf("got %s %s", n.Method, n.Params)
		}
	case <-time.After(need.Scaled(30 * time.Second)):
		t.Fatal("no notification")
	}
	result[struct{}](t, c, "resources/unsubscribe", map[string]any{"uri": "note:///V/a.md"})
	f.Person("V/a.md", "three\n")
	c.request("ping", nil)
	if len(c.notices) > 0 || len(other.notices) > 0 {
		t.Error("a notification that nobody asked for")
	}
}

func TestCompletion(t *testing.T) {
	_, srv := serve(t, map[string]string{"V/Apple.md": "x", "V/Pineapple.md": "x", "V/Pear.md": "x", "Apples/x.md": "x"})
	c := connect(t, srv, "client")
	type completion struct {
		Completion struct{ Values []string }
	}
	for _, ref := range []map[string]any{
		{"type": "ref/resource", "uri": "note:///{+path}"}, {"type": "ref/prompt", "name": "answer-comments"},
	} {
		got := result[completion](t, c, "completion/complete", map[string]any{
			"ref": ref, "argument": map[string]any{"name": "path", "value": "apple"},
		})
		if want := []string{"Apples/x.md", "V/Apple.md", "V/Pineapple.md"}; !slices.Equal(got.Completion.Values, want) {
			t.Errorf("%v: got %q, want %q", ref, got.Completion.Values, want)
		}
	}
}

func TestPrompts(t *testing.T) {
	_, srv := serve(t, map[string]string{
		"V/a.md": "One {--two--}{++three++}{>>why?<<} four.\n\n{==five==}{>>really?<<}\n\nsix{>>seven?<<}\n",
		"V/b.md": "Nothing.\n",
	})
	c := connect(t, srv, "client")
	type prompt struct {
		Messages []struct {
			Role    string
			Content struct{ Text string }
		}
	}
	get := func(name string, args map[string]any) string {
		t.Helper()
		p := result[prompt](t, c, "prompts/get", map[string]any{"name": name, "arguments": args})
		if len(p.Messages) != 1 || p.Messages[0].Role != "user" {
			t.Fatalf("got %+v", p)
		}
		return p.Messages[0].Content.Text
	}
	if got := get("summarize-suggestions", nil); !strings.Contains(got, "V/a.md:1: {--two--}{++three++}") {
		t.Errorf("got %s", got)
	}
	got := get("answer-comments", map[string]any{"path": "V"})
	for _, want := range []string{`V/a.md:1: comment on "One three": {>>why?<<}`, `V/a.md:3: comment on "five": {>>really?<<}`, `V/a.md:5: comment on "six": {>>seven?<<}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if got := get("answer-comments", map[string]any{"path": "V/b.md"}); !strings.Contains(got, "There are no open comments.") {
		t.Errorf("got %s", got)
	}
}

func TestInstructionsAndTools(t *testing.T) {
	f, srv := serve(t, map[string]string{"V/a.md": "x"})
	readOnly := mcpserver.New(f.Workspace, mcpserver.Options{ReadOnly: true})
	t.Cleanup(readOnly.Close)
	type initialized struct {
		Instructions string
		ServerInfo   struct{ Name, Version string }
	}
	type toolList struct{ Tools []struct{ Name string } }
	for _, tt := range []struct {
		srv   *mcpserver.Server
		say   string
		names []string
	}{
		{srv, "Read a note before you edit it", []string{"comment", "delete", "edit", "get_links", "glob", "grep", "list_suggestions", "move", "read", "search", "tasks", "write"}},
		{readOnly, "read-only", []string{"get_links", "glob", "grep", "list_suggestions", "read", "search"}},
	} {
		c := connect(t, tt.srv, "client")
		hello := result[initialized](t, c, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "x", "version": "1"}})
		if !strings.Contains(hello.Instructions, tt.say) || hello.ServerInfo.Name != "relayfs" {
			t.Errorf("got %+v", hello)
		}
		var names []string
		for _, tool := range result[toolList](t, c, "tools/list", nil).Tools {
			names = append(names, tool.Name)
		}
		if !slices.Equal(names, tt.names) {
			t.Errorf("tools %q, want %q", names, tt.names)
		}
	}
}
