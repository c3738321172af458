package mcpserver_test

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

// both sends a request on a stream and over HTTP, and returns the two answers.
type both struct {
	stream *rpc
	web    *webClient
}

func connectBoth(t *testing.T, notes map[string]string) both {
	web, srv := serveHTTP(t, notes)
	b := both{connect(t, srv, "stream"), &webClient{t: t, url: web.URL}}
	b.web.connect()
	return b
}

func (b both) request(t *testing.T, method string, params any) map[string]reply {
	t.Helper()
	resp := b.web.post(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var overHTTP reply
	if err := json.Unmarshal(body, &overHTTP); err != nil {
		t.Fatalf("%s: %s", resp.Status, body)
	}
	return map[string]reply{"stream": b.stream.request(method, params), "HTTP": overHTTP}
}

// source is what no client should read: the types of Go and of its packages.
var source = regexp.MustCompile(`Go (value|struct)|json: |\bmcp\.|struct \{`)

// Requests for tools and resources that do not exist are refused in sentences, in the same ones by both transports.
func TestRefusedRequests(t *testing.T) {
	b := connectBoth(t, map[string]string{"V/a.md": "one\n"})
	const invalid, missing = -32602, -32002
	for _, tt := range []struct {
		method string
		params any
		code   int
		say    string // the beginning of the message
	}{
		{"tools/call", map[string]any{"name": "nothing"}, invalid, `There is no tool "nothing". The tools are read, glob, `},
		{"tools/call", map[string]any{"name": strings.Repeat("x", 1<<20)}, invalid, `There is no tool "xxx`},
		{"resources/read", map[string]any{"uri": "note:///V/none.md"}, missing, `There is no document "V/none.md".`},
		{"resources/read", map[string]any{"uri": "note://host/V/a.md"}, invalid, `Resource "note://host/V/a.md" is not an address like note:///Folder/Name.md.`},
		{"resources/read", map[string]any{"uri": "file:///V/a.md"}, missing, ""},
	} {
		for author, r := range b.request(t, tt.method, tt.params) {
			switch {
			case r.Error == nil:
				t.Errorf("%s %v on %s: not refused: %s", tt.method, tt.params, author, r.Result)
			case r.Error.Code != tt.code || !strings.HasPrefix(r.Error.Message, tt.say) || source.MatchString(r.Error.Message) || len(r.Error.Message) > 1000:
				t.Errorf("%s on %s: %d %s; want %d %s", tt.method, author, r.Error.Code, r.Error.Message, tt.code, tt.say)
			}
		}
	}
}

// The path of a resource need not be percent-encoded. Its answer has the address as it should be.
func TestResourceAddressAsItStands(t *testing.T) {
	b := connectBoth(t, map[string]string{"V/a b.md": "one", "V/50%.md": "two", "V/q?.md": "three", "V/h#1.md": "four\nfive", "V/é.md": "six"})
	for uri, want := range map[string][2]string{
		"note:///V/a b.md":                   {"note:///V/a%20b.md", "one"},
		"note:///V/a%20b.md":                 {"note:///V/a%20b.md", "one"},
		"note:///V/50%.md":                   {"note:///V/50%25.md", "two"},
		"note:///V/q?.md":                    {"note:///V/q%3F.md", "three"},
		"note:///V/h#1.md":                   {"note:///V/h%231.md", "four\nfive"},
		"note:///V/h#1.md?line=2":            {"note:///V/h%231.md", "five"},
		"note:///V/h%231.md?line=2":          {"note:///V/h%231.md", "five"},
		"note:///V/h#1.md?line=2&column=3":   {"note:///V/h%231.md", "ve"},
		"note:///V/h%231.md?column=3&line=2": {"note:///V/h%231.md", "ve"},
		"note:///V/é.md":                     {"note:///V/%C3%A9.md", "six"},
	} {
		for author, r := range b.request(t, "resources/read", map[string]any{"uri": uri}) {
			var got struct{ Contents []struct{ URI, Text string } }
			if r.Error != nil {
				t.Errorf("%s on %s: %s", uri, author, r.Error.Message)
			} else if err := json.Unmarshal(r.Result, &got); err != nil || len(got.Contents) != 1 || got.Contents[0].URI != want[0] || got.Contents[0].Text != want[1] {
				t.Errorf("%s on %s: %s, want %v", uri, author, r.Result, want)
			}
		}
	}
}

// What is too long is refused at once, whatever would be done with it.
func TestTooLongIsRefusedAtOnce(t *testing.T) {
	need.Plain(t)
	b := connectBoth(t, map[string]string{"V/a.md": "one\n"})
	long := strings.Repeat("ab ", 1<<20/3)
	for tool, args := range map[string]map[string]any{
		"grep":  {"pattern": long},
		"glob":  {"pattern": long},
		"tasks": {"tag": long},
		"read":  {"file_path": long},
		"write": {"file_path": "V/new.md", "content": strings.Repeat(long, 17)},
	} {
		begin := time.Now()
		for author, r := range b.request(t, "tools/call", map[string]any{"name": tool, "arguments": args}) {
			var res struct {
				IsError bool
				Content []struct{ Text string }
			}
			if r.Error != nil || json.Unmarshal(r.Result, &res) != nil || !res.IsError || len(res.Content[0].Text) > 1000 {
				t.Errorf("%s on %s is not refused: %.200s", tool, author, r.Result)
			}
		}
		if took := time.Since(begin); took > need.Scaled(20*time.Second) {
			t.Errorf("%s: refused after %v", tool, took)
		}
	}
}

// An error does not repeat a long argument.
func TestErrorsQuoteTheBeginningOfLongArguments(t *testing.T) {
	f := bridgetest.New(t, map[string]string{"V/a.md": "one\n"})
	srv := mcpserver.New(f.Workspace, mcpserver.Options{Toolsets: mcpserver.Toolsets()})
	t.Cleanup(srv.Close)
	c := connect(t, srv, "long")
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]struct{ Type any }
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(c.request("tools/list", map[string]any{}).Result, &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		for long, p := range tool.InputSchema.Properties {
			if p.Type != "string" {
				continue
			}
			args := map[string]any{}
			for _, name := range tool.InputSchema.Required {
				if args[name] = "V/a.md"; tool.InputSchema.Properties[name].Type != "string" {
					args[name] = []any{}
				}
			}
			args[long] = strings.Repeat("long/", 20_000)
			if text, isError := c.callTool(tool.Name, args); isError && len(text) > 2000 {
				t.Errorf("%s with a long %s: %d bytes: %.300s", tool.Name, long, len(text), text)
			}
		}
	}
}

// U+0000 stays in the text of a note, although a file with it may pass for a binary one.
func TestNULStays(t *testing.T) {
	f, srv := serve(t, map[string]string{"V/a.md": "one\n"})
	c := newTools(t, srv)
	c.ok("read", "file_path", "V/a.md")
	c.ok("edit", "file_path", "V/a.md", "old_string", "one", "new_string", "one\x00two")
	if got, want := f.SourceText("V/a.md"), "one{++\x00two++}\n"; got != want {
		t.Errorf("the note is %q, want %q", got, want)
	}
	if got := c.ok("read", "file_path", "V/a.md"); !strings.Contains(got, "one\x00two") {
		t.Errorf("read returns %q", got)
	}
}
