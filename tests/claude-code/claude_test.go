//go:build linux

package claudecode

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// call is a call of one of Claude Code's tools.
type call struct {
	tool  string
	input map[string]any
}

func bash(command string) call {
	return call{"Bash", map[string]any{"command": command, "description": "test"}}
}

func write(path, text string) call {
	return call{"Write", map[string]any{"file_path": path, "content": text}}
}

// mock is a mock of the Messages API: a model that makes the calls in turn, whatever comes of them.
type mock struct {
	mu      sync.Mutex // guards the fields below
	calls   []call
	results []string // of the calls so far
	heard   string   // the messages of the last request with tools
}

// ServeHTTP answers POST /v1/messages.
func (m *mock) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string            `json:"model"`
		Tools    []json.RawMessage `json:"tools"`
		Messages []struct {
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if r.URL.Path != "/v1/messages" || json.NewDecoder(r.Body).Decode(&request) != nil {
		http.NotFound(w, r)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results = nil
	if len(request.Tools) > 0 {
		all, _ := json.Marshal(request.Messages)
		m.heard = string(all)
	}
	for _, msg := range request.Messages {
		var blocks []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(msg.Content, &blocks) != nil {
			continue // it is a string
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				m.results = append(m.results, string(b.Content))
			}
		}
	}
	start, delta, stop := map[string]any{"type": "text", "text": ""}, map[string]any{"type": "text_delta", "text": "Done."}, "end_turn"
	if n := len(m.results); len(request.Tools) > 0 && n < len(m.calls) {
		input, _ := json.Marshal(m.calls[n].input)
		start = map[string]any{"type": "tool_use", "id": fmt.Sprintf("toolu_%d", n), "name": m.calls[n].tool, "input": map[string]any{}}
		delta, stop = map[string]any{"type": "input_json_delta", "partial_json": string(input)}, "tool_use"
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(kind string, event map[string]any) {
		event["type"] = kind
		data, _ := json.Marshal(event)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, data)
	}
	usage := map[string]any{"input_tokens": 1, "output_tokens": 1}
	send("message_start", map[string]any{"message": map[string]any{
		"id": "msg_1", "type": "message", "role": "assistant", "model": request.Model, "content": []any{}, "usage": usage,
	}})
	send("content_block_start", map[string]any{"index": 0, "content_block": start})
	send("content_block_delta", map[string]any{"index": 0, "delta": delta})
	send("content_block_stop", map[string]any{"index": 0})
	send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop}, "usage": usage})
	send("message_stop", map[string]any{})
}

// binary is the program of the npm package for this machine.
func binary(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("node_modules/@anthropic-ai/claude-code-linux-*/claude")
	if err != nil || len(found) == 0 {
		need.Missing(t, "Claude Code is not installed: run tests/scripts/deps.sh test (%v)", err)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// claude runs Claude Code in a directory, where it makes the calls, and returns their results.
func claude(t *testing.T, s *harness.Sandbox, dir string, calls ...call) []string {
	t.Helper()
	return claudeWith(t, s, dir, []string{"--dangerously-skip-permissions"}, calls...).results
}

// claudeWith runs Claude Code with flags, and returns the model to which it talked.
func claudeWith(t *testing.T, s *harness.Sandbox, dir string, flags []string, calls ...call) *mock {
	t.Helper()
	model := &mock{calls: calls}
	server := httptest.NewServer(model)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), harness.StartTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t), append(append([]string{"-p"}, flags...), "go")...)
	cmd.Dir = dir
	for _, v := range s.Env { // this test may be run by the same program
		if !strings.HasPrefix(v, "CLAUDE") && !strings.HasPrefix(v, "ANTHROPIC_") && !strings.HasPrefix(v, "AI_AGENT=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(
		cmd.Env, "ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=test", "CLAUDE_CONFIG_DIR="+s.Path("claude"),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1", "RELAYFS_AGENTS=claude",
		"PATH="+filepath.Dir(s.Binary)+":"+os.Getenv("PATH"),
	)
	out := harness.RunCommand(t, cmd)
	if out.Code != 0 || len(model.results) < len(calls) {
		t.Fatalf("claude: exit %d after %d of %d calls: %s%s\n%q", out.Code, len(model.results), len(calls), out.Stdout, out.Stderr, model.results)
	}
	return model
}

// mounted is a vault with two notes on a mount that knows Claude Code, and where the vault is on the mount.
func mounted(t *testing.T) (s *harness.Sandbox, m *harness.Mount, dir string) {
	t.Helper()
	binary(t)
	s = harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Plan.md": "alpha\nbeta\n", "Home.md": "See [[Plan]].\n"})
	m = s.Mount(t, vault, "RELAYFS_AGENTS=claude")
	return s, m, filepath.Dir(m.Path("Plan.md"))
}

// untouched checks that nothing waits, and that the vault and the mount have what they had at first.
func untouched(t *testing.T, s *harness.Sandbox, m *harness.Mount) {
	t.Helper()
	if list := s.Suggestions(t, m.Vault); len(list) > 0 {
		t.Errorf("this waits: %v", list)
	}
	for _, dir := range []string{m.Vault, m.Path("")} {
		harness.CheckListing(t, dir, []string{"Home.md", "Plan.md"})
		harness.CheckText(t, "Plan.md", harness.ReadFile(t, filepath.Join(dir, "Plan.md")), "alpha\nbeta\n")
		harness.CheckText(t, "Home.md", harness.ReadFile(t, filepath.Join(dir, "Home.md")), "See [[Plan]].\n")
	}
}

// Claude Code runs each command in a session of its own. What one command makes, another one removes without a trace.
func TestWhatItMakesItRemoves(t *testing.T) {
	s, m, dir := mounted(t)
	results := claude(
		t, s, dir,
		write(filepath.Join(dir, "Draft.md"), "A draft.\n"),
		bash("rm Draft.md && echo went-well"),
		bash("mkdir out && for i in $(seq 30); do echo note $i > out/$i.md; done && ls out | wc -l"),
		bash("rm -rf out && echo went-well"),
	)
	for i, want := range map[int]string{1: "went-well", 2: "30", 3: "went-well"} {
		if !strings.Contains(results[i], want) {
			t.Errorf("call %d: got %s, want %q in it", i+1, results[i], want)
		}
	}
	untouched(t, s, m)
}

// All that one run does is one session of the agent's: one undo takes it back. The agent itself does not decide.
func TestOneRunIsOneSession(t *testing.T) {
	s, m, dir := mounted(t)
	results := claude(
		t, s, dir,
		write(filepath.Join(dir, "New.md"), "Written.\n"),
		bash("echo more >> New.md; echo made by a command > Other.md; mkdir sub; echo deep > sub/Deep.md"),
		call{"Read", map[string]any{"file_path": filepath.Join(dir, "Plan.md")}},
		call{"Edit", map[string]any{"file_path": filepath.Join(dir, "Plan.md"), "old_string": "alpha", "new_string": "ALPHA"}},
		bash("sed -i s/beta/BETA/ Plan.md && sort Plan.md > sorted && mv sorted Plan.md && mv Plan.md Scheme.md"),
		bash(s.Binary+" suggestions accept --all --yes "+m.Vault+"; echo code $?"),
		bash(s.Binary+" suggestions undo "+m.Vault+"; echo code $?"),
		bash("rm Home.md; ls"),
	)
	for _, i := range []int{5, 6} {
		if !strings.Contains(results[i], "is reserved for the user") || strings.Contains(results[i], "code 0") {
			t.Errorf("call %d is not refused: %s", i+1, results[i])
		}
	}
	list := s.Suggestions(t, m.Vault)
	if len(list) < 5 {
		t.Errorf("too little waits: %v", list)
	}
	for _, x := range list {
		if x.Author != "claude" || x.Session != list[0].Session {
			t.Errorf("%v is by %q in session %q, want claude and %q", x, x.Author, x.Session, list[0].Session)
		}
	}
	if out := s.Run(t, "suggestions", "undo", "--session", list[0].Session, m.Vault); out.Code != 0 {
		t.Fatalf("undo: exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
	}
	untouched(t, s, m)
}

// A command that was detached from Claude Code in any way is still the agent's: it does not decide, and it signs with
// the agent's name.
func TestDetachedCommands(t *testing.T) {
	s, m, dir := mounted(t)
	act := s.Path("act")
	harness.WriteFile(t, act, fmt.Sprintf(`until [ -e '%s/go' ]; do sleep 0.05; done
%s suggestions accept --all --yes %s > '%[1]s/'$1.out 2>&1
echo more > '%[4]s/'$1.md
touch '%[1]s/'$1.done
`, s.Mkdir(t, "acts"), s.Binary, m.Vault, dir))
	ways := []string{
		"(%s &)", "nohup %s &", "setsid %s &", "%s & disown", "(setsid %s &)", "setsid sh -c '(%s &)'", "env -u CLAUDE_CODE_SESSION_ID setsid %s &", "env -u CLAUDECODE setsid %s &",
	}
	calls := []call{bash("echo first > First.md")}
	for i, way := range ways {
		calls = append(calls, bash(fmt.Sprintf(way, fmt.Sprintf("sh %s %d > /dev/null 2>&1 < /dev/null", act, i))))
	}
	acts := s.Path("acts")
	calls = append(calls, bash(fmt.Sprintf("touch %s/go; for i in $(seq 400); do [ $(ls %[1]s/*.done | wc -l) = %d ] && break; sleep 0.05; done", acts, len(ways))))
	claude(t, s, dir, calls...)
	for i, way := range ways {
		if out := harness.ReadFile(t, filepath.Join(acts, fmt.Sprint(i, ".out"))); !strings.Contains(out, "is reserved for the user") {
			t.Errorf("%s: accept is not refused: %s", way, out)
		}
	}
	list := s.Suggestions(t, m.Vault)
	if len(list) != 1+len(ways) {
		t.Errorf("%d suggestions are pending, want %d: %v", len(list), 1+len(ways), list)
	}
	for _, x := range list {
		if x.Author != "claude" {
			t.Errorf("%v is by %q, want claude", x, x.Author)
		}
	}
}
