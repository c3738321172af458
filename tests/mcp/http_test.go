package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
	"github.com/relayfs/relayfs/tests/randomtest"
)

// httpServer is `relayfs mcp --http` on a free port.
type httpServer struct {
	url, token, tokenFile string
	cmd                   *exec.Cmd
	log                   *harness.Log
}

var servingLine = regexp.MustCompile(`serving MCP at (http://\S+), token in (\S+)`)

func serveHTTP(t *testing.T, s *harness.Sandbox, args ...string) *httpServer {
	t.Helper()
	h := &httpServer{log: harness.NewLog()}
	h.cmd = s.Command(context.Background(), append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	h.cmd.Stderr = h.log
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.stop(t) })
	select {
	case <-h.log.Seen("serving MCP at "):
	case <-time.After(harness.StartTimeout):
		t.Fatalf("relayfs mcp --http does not serve\n%s", h.log)
	}
	found := servingLine.FindStringSubmatch(h.log.String())
	if found == nil {
		t.Fatalf("no address in %q", h.log)
	}
	h.url, h.tokenFile = found[1], found[2]
	h.token = strings.TrimSpace(harness.ReadFile(t, h.tokenFile))
	return h
}

// stop ends the server as Ctrl-C does and expects a clean end.
func (h *httpServer) stop(t *testing.T) {
	if h.cmd.ProcessState != nil {
		return
	}
	_ = h.cmd.Process.Signal(syscall.SIGINT)
	if err := h.cmd.Wait(); err != nil {
		t.Errorf("relayfs mcp --http: %v\n%s", err, h.log)
	}
	if strings.Contains(h.log.String(), "WARNING: DATA RACE") {
		t.Errorf("data race in relayfs:\n%s", h.log)
	}
}

// post sends a message, with headers on top of the usual ones; "" takes one away.
func (h *httpServer) post(t *testing.T, body io.Reader, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+h.token)
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

const initializeMessage = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"web","version":"1"}}}`

// open starts a session and returns its id.
func (h *httpServer) open(t *testing.T) string {
	t.Helper()
	resp := h.post(t, strings.NewReader(initializeMessage))
	_, _ = io.Copy(io.Discard, resp.Body)
	session := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != http.StatusOK || session == "" {
		t.Fatalf("initialize: %s, session %q", resp.Status, session)
	}
	return session
}

// call calls a tool and returns the message that answers it. The server may send it as a stream, behind
// notifications that the tools have changed.
func (h *httpServer) call(t *testing.T, session, tool string, args map[string]any) string {
	t.Helper()
	message, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args}})
	if err != nil {
		t.Fatal(err)
	}
	resp := h.post(t, bytes.NewReader(message), "Mcp-Session-Id", session)
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(answer)) {
		data, isData := strings.CutPrefix(line, "data: ")
		var reply struct{ ID int }
		if isData && json.Unmarshal([]byte(data), &reply) == nil && reply.ID == 2 {
			return data
		}
	}
	return string(answer)
}

func TestHTTPToken(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	h := serveHTTP(t, s, vault)
	if st, err := os.Stat(h.tokenFile); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v, %v", st, err)
	}
	if len(h.token) < 20 || strings.Contains(h.log.String(), h.token) {
		t.Errorf("token %q, log %q", h.token, h.log)
	}
	hidden := s.Run(t, "status", vault)
	if !strings.Contains(hidden.Stdout, "token: in "+h.tokenFile) || strings.Contains(hidden.Stdout+s.Run(t, "status", "--json").Stdout, h.token) {
		t.Errorf("status shows the token: %s", hidden.Stdout)
	}
	status := s.Run(t, "status", "--show-token", vault)
	if !strings.Contains(status.Stdout, "MCP: "+h.url) || !strings.Contains(status.Stdout, "token: "+h.token) {
		t.Errorf("status: %s%s", status.Stdout, status.Stderr)
	}
	h.stop(t)
	if again := serveHTTP(t, s, vault); again.token != h.token {
		t.Error("the token changed with a restart")
	}
}

func TestHTTPRefusals(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	h := serveHTTP(t, s, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	origin := strings.TrimSuffix(h.url, "/mcp")
	for _, tt := range []struct {
		name    string
		headers []string
		want    int
	}{
		{"accepted", nil, 200},
		{"own origin", []string{"Origin", origin}, 200},
		{"no token", []string{"Authorization", ""}, 401},
		{"wrong token", []string{"Authorization", "Bearer " + strings.Repeat("A", len(h.token))}, 401},
		{"beginning of the token", []string{"Authorization", "Bearer " + h.token[:len(h.token)-1]}, 401},
		{"other scheme", []string{"Authorization", "Basic " + h.token}, 401},
		{"foreign origin", []string{"Origin", "https://evil.example"}, 403},
		{"origin of another port", []string{"Origin", "http://127.0.0.1:1"}, 403},
		{"opaque origin", []string{"Origin", "null"}, 403},
		{"rebound host", []string{"Host", "evil.example"}, 421},
		{"rebound host and origin", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 421},
		{"huge header", []string{"X-Filler", strings.Repeat("x", 100<<10)}, 431},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if resp := h.post(t, strings.NewReader(initializeMessage), tt.headers...); resp.StatusCode != tt.want {
				t.Errorf("%s, want %d", resp.Status, tt.want)
			}
		})
	}
	t.Run("token in the query", func(t *testing.T) {
		resp, err := http.Post(h.url+"?token="+h.token, "application/json", strings.NewReader(initializeMessage))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s", resp.Status)
		}
	})
}

func TestHTTPPathEscapes(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable, "../outside.md": "not yours\n"})
	if err := os.Symlink(s.Path("outside.md"), filepath.Join(vault, "link.md")); err != nil {
		t.Fatal(err)
	}
	h := serveHTTP(t, s, vault)
	session := h.open(t)
	for _, path := range []string{
		"../outside.md", "Vault/../outside.md", "/Vault/../../outside.md", "Vault/../Vault/../outside.md", "Vault/link.md",
		s.Path("outside.md"), "Vault\\..\\outside.md", "Vault/%2e%2e/outside.md", "Vault/note.md\x00.md", "..", "/", "",
	} {
		for _, tool := range []string{"read", "get_links"} {
			answer := h.call(t, session, tool, map[string]any{"file_path": path})
			if !strings.Contains(answer, `"isError":true`) || strings.Contains(answer, "not yours") {
				t.Errorf("%s of %q: %s", tool, path, answer)
			}
		}
		answer := h.call(t, session, "write", map[string]any{"file_path": path, "content": "mine\n"})
		if got := harness.ReadFile(t, s.Path("outside.md")); got != "not yours\n" {
			t.Fatalf("write of %q changed a file outside: %s", path, answer)
		}
	}
}

// A body may be as large as the largest note, and no larger; memory stays bounded.
func TestHTTPBodyLimit(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	h := serveHTTP(t, s, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	session := h.open(t)
	oversized := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"`), io.LimitReader(zeros{}, 150<<20))
	if resp := h.post(t, oversized, "Mcp-Session-Id", session); resp.StatusCode < 400 {
		t.Errorf("a body of 150 MiB is answered %s", resp.Status)
	}
	if answer := h.call(t, session, "read", map[string]any{"file_path": "Vault/note.md"}); !strings.Contains(answer, "at six") {
		t.Errorf("after it: %s", answer)
	}
	// Without a token nothing is read at all.
	if resp := h.post(t, io.LimitReader(zeros{}, 150<<20), "Authorization", ""); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", resp.Status)
	}
}

// zeros is a body without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// Sessions that are opened and dropped do not stay.
func TestHTTPManySessions(t *testing.T) {
	t.Parallel()
	need.Full(t, "it takes long")
	s := harness.NewSandbox(t)
	h := serveHTTP(t, s, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	first := h.open(t)
	for range 2000 {
		h.open(t)
	}
	before, open := residentMiB(t, h.cmd.Process.Pid), openFiles(t, h.cmd.Process.Pid)
	more := 2000
	if randomtest.Soaks() {
		more = 8000
	}
	for range more {
		h.open(t)
	}
	after := residentMiB(t, h.cmd.Process.Pid)
	if after > before+32 {
		t.Errorf("%d MiB after %d more sessions, %d MiB after 2,000", after, more, before)
	}
	if now := openFiles(t, h.cmd.Process.Pid); now > open+20 {
		t.Errorf("%d open files after %d more sessions, %d after 2,000", now, more, open)
	}
	resp := h.post(t, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), "Mcp-Session-Id", first)
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("the session idle longest is answered %s", resp.Status)
	}
}

var residentLine = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

func residentMiB(t *testing.T, pid int) int {
	t.Helper()
	found := residentLine.FindStringSubmatch(harness.ReadFile(t, fmt.Sprintf("/proc/%d/status", pid)))
	if found == nil {
		t.Fatal("no VmRSS")
	}
	kB, err := strconv.Atoi(found[1])
	if err != nil {
		t.Fatal(err)
	}
	return kB >> 10
}

func openFiles(t *testing.T, pid int) int {
	t.Helper()
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// A client that keeps its event stream open does not keep the server up.
func TestHTTPShutdownWithOpenStream(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	h := serveHTTP(t, s, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("Authorization", "Bearer "+h.token)
	req.Header.Set("Mcp-Session-Id", h.open(t))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("event stream: %s", resp.Status)
	}
	h.stop(t)
	if strings.Contains(h.log.String(), "cut off") {
		t.Errorf("the stream was waited for:\n%s", h.log)
	}
}

// Beyond loopback a token has to be thought of, and its file is the user's alone.
func TestHTTPFlags(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	open, short := s.Path("open-token"), s.Path("short-token")
	harness.WriteFile(t, open, strings.Repeat("t", 40))
	harness.WriteFile(t, short, "secret")
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(short, 0o600); err != nil {
		t.Fatal(err)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, tt := range []struct {
		name, want string
		code       int
		args       []string
	}{
		{"all interfaces", "RELAYFS_TOKEN_FILE", 2, []string{"--http", "0.0.0.0:0"}},
		{"no host", "RELAYFS_TOKEN_FILE", 2, []string{"--http", ":0"}},
		{"host name", "RELAYFS_TOKEN_FILE", 2, []string{"--http", "notes.example:80"}},
		{"no port", "HOST:PORT", 2, []string{"--http", "127.0.0.1"}},
		{"unknown toolset", "claude", 2, []string{"--toolsets", "everything"}},
		{"token that others read", "chmod 600", 1, []string{"--http", "127.0.0.1:0", "RELAYFS_TOKEN_FILE=" + open}},
		{"short token", "16 characters", 1, []string{"--http", "127.0.0.1:0", "RELAYFS_TOKEN_FILE=" + short}},
		{"port in use", "another port", 1, []string{"--http", taken.Addr().String()}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := s.Run(t, append(append([]string{"mcp"}, tt.args...), vault)...)
			if out.Code != tt.code || !strings.Contains(out.Stderr, tt.want) {
				t.Errorf("exit %d, %q; want %d and %q", out.Code, out.Stderr, tt.code, tt.want)
			}
		})
	}
	if h := serveHTTP(t, s, "RELAYFS_TOKEN_FILE="+s.Path("made", "token"), vault); h.tokenFile != s.Path("made", "token") {
		t.Errorf("token file %q, want %q", h.tokenFile, s.Path("made", "token"))
	}
}

// A mount serves HTTP too, from the same documents.
func TestMountServesHTTP(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), "--http", "127.0.0.1:0")
	m.Log.Says(t, "serving MCP at ")
	found := servingLine.FindStringSubmatch(m.Log.String())
	if found == nil {
		t.Fatalf("no address in %q", m.Log)
	}
	h := &httpServer{url: found[1], token: strings.TrimSpace(harness.ReadFile(t, found[2]))}
	session := h.open(t)
	harness.WriteFile(t, m.Path("note.md"), strings.Replace(harness.TideTable, "six", "seven", 1))
	if got := h.call(t, session, "read", map[string]any{"file_path": m.Path("note.md")}); !strings.Contains(got, "at seven") {
		t.Errorf("read: %s", got)
	}
}
