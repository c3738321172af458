//go:build linux

package claudecode

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The hook of the plugin tells a session at its next prompt what the user decided, and why: once, and nothing of others. The
// session goes on in another process. The rules of docs/claude-code.md let it edit on the mount without a question.
func TestOutcomesReachTheNextPrompt(t *testing.T) {
	s, m, dir := mounted(t)
	plugin := harness.Repo("packaging", "claude-plugin")
	settings := settingsOf(t, "docs/claude-code.md", filepath.Dir(dir))
	edit := func(old, new string) []call {
		return []call{
			{"Read", map[string]any{"file_path": filepath.Join(dir, "Plan.md")}},
			{"Edit", map[string]any{"file_path": filepath.Join(dir, "Plan.md"), "old_string": old, "new_string": new}},
		}
	}
	const session = "11111111-2222-4333-8444-555555555555"
	flags := func(more ...string) []string {
		return append([]string{"--plugin-dir", plugin, "--settings", settings}, more...)
	}
	claudeWith(t, s, dir, flags("--session-id", session), edit("alpha", "ALPHA")...)
	claudeWith(t, s, dir, flags("--session-id", session[:35]+"6"), edit("beta", "BETA")...)
	for _, x := range s.Suggestions(t, m.Vault) {
		verdict, reason := "reject", "too loud"
		if x.New == "ALPHA" {
			verdict, reason = "accept", "good"
		}
		if out := s.Run(t, "suggestions", verdict, "--reason", reason, x.ID, m.Vault); out.Code != 0 {
			t.Fatalf("%s %v: %s", verdict, x, out.Stderr)
		}
	}
	const news = `accepted: Vault/Plan.md:1, \"alpha\" replaced by \"ALPHA\", because: good`
	for prompt := 2; prompt < 4; prompt++ { // the conversation keeps what the first of them was told
		model := claudeWith(t, s, dir, flags("--resume", session))
		if n := strings.Count(model.heard, news); n != 1 || strings.Contains(model.heard, "too loud") {
			t.Errorf("at prompt %d the model has %d times %s, want once and nothing of the other session: %s", prompt, n, news, model.heard[max(0, len(model.heard)-2000):])
		}
	}
}

// The status line of docs/claude-code.md says how much is pending.
func TestStatusLine(t *testing.T) {
	need.Programs(t, "jq")
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"Plan.md": "{++alpha++} {--beta--}\n", "Old.md": "old\n"}))
	if err := os.Remove(m.Path("Old.md")); err != nil {
		t.Fatal(err)
	}
	var settings struct{ StatusLine struct{ Command string } }
	if err := json.Unmarshal([]byte(harness.ReadFile(t, settingsOf(t, "docs/claude-code.md", m.Path("")))), &settings); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", settings.StatusLine.Command)
	cmd.Dir = m.Path("")
	cmd.Env = append(slices.Clone(s.Env), "PATH="+filepath.Dir(s.Binary)+":"+os.Getenv("PATH"))
	if out := harness.RunCommand(t, cmd); out.Code != 0 || out.Stdout != "3 pending in the notes\n" {
		t.Errorf("exit %d, %q %q", out.Code, out.Stdout, out.Stderr)
	}
}

// settingsOf writes the settings that a page shows to a file, for a mount elsewhere than at ~/notes.
func settingsOf(t *testing.T, page, mountpoint string) string {
	t.Helper()
	_, block, _ := strings.Cut(harness.ReadFile(t, harness.Repo(page)), "```json tested by tests/claude-code\n")
	block, _, ok := strings.Cut(block, "```\n")
	if !ok {
		t.Fatalf("%s shows no settings", page)
	}
	var settings map[string]any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(block, "~/notes", "/"+mountpoint)), &settings); err != nil {
		t.Fatal(err)
	}
	delete(settings, "hooks") // the plugin brings it
	data, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "settings.json")
	harness.WriteFile(t, file, string(data))
	return file
}
