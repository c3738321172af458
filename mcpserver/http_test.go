package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/mcpserver"
	"github.com/relayfs/relayfs/tests/need"
)

// webClient speaks Streamable HTTP.
type webClient struct {
	t       testing.TB
	url     string
	session string
}

func serveHTTP(t testing.TB, notes map[string]string) (*httptest.Server, *mcpserver.Server) {
	t.Helper()
	_, srv := serve(t, notes)
	web := httptest.NewServer(srv.HTTPHandler())
	t.Cleanup(web.Close)
	return web, srv
}

// post sends one message with the given headers on top of the usual ones.
func (c *webClient) post(message any, headers ...string) *http.Response {
	c.t.Helper()
	body, isRaw := message.([]byte)
	if !isRaw {
		var err error
		if body, err = json.Marshal(message); err != nil {
			c.t.Fatal(err)
		}
	}
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

var handshake = map[string]any{
	"jsonrpc": "2.0", "id": 1, "method": "initialize",
	"params": map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "web", "version": "1"}},
}

func (c *webClient) connect() {
	c.t.Helper()
	resp := c.post(handshake)
	if c.session = resp.Header.Get("Mcp-Session-Id"); resp.StatusCode != http.StatusOK || c.session == "" {
		c.t.Fatalf("initialize: %s, session %q", resp.Status, c.session)
	}
}

// tool returns the text of a tool's result.
func (c *webClient) tool(name string, args map[string]any) string {
	c.t.Helper()
	resp := c.post(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": name, "arguments": args}})
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	var r struct {
		Result struct {
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal(body, &r); err != nil || len(r.Result.Content) == 0 {
		c.t.Fatalf("%s: %s", resp.Status, body)
	}
	return r.Result.Content[0].Text
}

// Sessions keep apart what each client has read, over calls.
func TestHTTPSessions(t *testing.T) {
	web, _ := serveHTTP(t, map[string]string{"V/a.md": "one\n"})
	one, two := &webClient{t: t, url: web.URL}, &webClient{t: t, url: web.URL}
	one.connect()
	two.connect()
	if one.session == two.session {
		t.Fatal("two clients have one session")
	}
	change := map[string]any{"file_path": "V/a.md", "old_string": "one", "new_string": "two"}
	one.tool("read", map[string]any{"file_path": "V/a.md"})
	if got := two.tool("edit", change); !strings.HasPrefix(got, "You must read this document") {
		t.Errorf("edit in a session that has read nothing: %s", got)
	}
	if got := one.tool("edit", change); !strings.HasPrefix(got, "Edited V/a.md") {
		t.Errorf("edit after read: %s", got)
	}
	if got := one.tool("list_suggestions", nil); !strings.Contains(got, "(Agent)") {
		t.Errorf("suggestions: %s", got)
	}
}

func TestHTTPRefusals(t *testing.T) {
	web, _ := serveHTTP(t, map[string]string{"V/a.md": "one\n"})
	list := map[string]any{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}
	for _, tt := range []struct {
		name    string
		session string // "" for none, "own" for that of a client
		message any
		headers []string
		want    int
	}{
		{"accepted", "own", list, nil, 200},
		{"no session", "", list, nil, 404},
		{"unknown session", "mcp-session-00000000-0000-4000-8000-000000000000", list, nil, 404},
		{"not JSON", "own", []byte("{"), nil, 400},
		{"stateless protocol", "own", map[string]any{"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": map[string]any{
			"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
		}}, []string{"Mcp-Protocol-Version", "2026-07-28"}, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := &webClient{t: t, url: web.URL}
			if c.session = tt.session; tt.session == "own" {
				c.session = ""
				c.connect()
			}
			resp := c.post(tt.message, tt.headers...)
			if resp.StatusCode != tt.want {
				body, _ := io.ReadAll(resp.Body)
				t.Errorf("%s: %s, want %d", resp.Status, body, tt.want)
			}
		})
	}
}

// A stream for a session that has ended is refused, so that the client starts a new session instead of waiting.
func TestHTTPStreamOfAnUnknownSession(t *testing.T) {
	web, _ := serveHTTP(t, map[string]string{"V/a.md": "one\n"})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, web.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Mcp-Session-Id", "unknown")
	resp, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("%s, want 404", resp.Status)
	}
}

func TestRequestWithIDNull(t *testing.T) {
	web, _ := serveHTTP(t, map[string]string{"V/a.md": "one\n"})
	c := &webClient{t: t, url: web.URL}
	c.connect()
	body, err := io.ReadAll(c.post([]byte(`{"jsonrpc":"2.0","id":null,"method":"tools/list"}`)).Body)
	if err != nil || !strings.Contains(string(body), "must not be null") {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestHTTPBodyLimit(t *testing.T) {
	need.Plain(t)
	web, _ := serveHTTP(t, map[string]string{"V/a.md": "one\n"})
	c := &webClient{t: t, url: web.URL}
	c.connect()
	resp := c.post(bytes.Repeat([]byte(" "), 110<<20))
	if resp.StatusCode < 400 {
		t.Errorf("a body of 110 MiB is answered %s", resp.Status)
	}
}

// Clients that come and go without a word leave a bounded number of sessions.
func TestHTTPSessionsAreBounded(t *testing.T) {
	const most = 1024
	_, srv := serve(t, map[string]string{"V/a.md": "one\n"})
	h := srv.HTTPHandler()
	body, err := json.Marshal(handshake)
	if err != nil {
		t.Fatal(err)
	}
	open := func() string {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if h.ServeHTTP(w, r); w.Code != http.StatusOK {
			t.Fatalf("initialize: %d %s", w.Code, w.Body)
		}
		return w.Header().Get("Mcp-Session-Id")
	}
	first := open()
	goroutines := runtime.NumGoroutine()
	ids := []string{first}
	for range most + 300 {
		ids = append(ids, open())
	}
	// What the last requests have started ends by itself, on a busy machine a while later.
	for end := time.Now().Add(need.Scaled(time.Minute)); runtime.NumGoroutine() > goroutines+200; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
	}
	kept := 0
	for _, id := range ids {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Session-Id", id)
		if h.ServeHTTP(w, r); w.Code != http.StatusNotFound {
			kept++
		}
		if id == first && w.Code != http.StatusNotFound {
			t.Errorf("the session idle longest is answered %d", w.Code)
		}
	}
	if kept > most {
		t.Errorf("%d sessions are kept", kept)
	}
}
