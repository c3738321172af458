package tests

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Init writes a configuration with Obsidian's vaults, after which commands need
// no arguments; what is on the command line still wins.
func TestConfigFromObsidian(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "My Vault", map[string]string{"Note.md": "a {--b--}{++c++} d\n"})
	s.mkdir(t, "home", ".config", "obsidian")
	writeFile(t, s.path("home", ".config", "obsidian", "obsidian.json"), `{"vaults":{"x":{"path":"`+vault+`","open":true},"y":{"path":"/nowhere"}}}`)

	file := s.path("xdg", "config_home", "relayfs", "config.toml")
	out := s.run(t, "init", "--mountpoint", s.mkdir(t, "mnt"))
	if out.code != 0 || strings.TrimSpace(out.stdout) != file || !strings.Contains(out.stderr, "vault "+vault+"\n") {
		t.Fatalf("init: exit %d, %q, %q", out.code, out.stdout, out.stderr)
	}
	if out := s.run(t, "init"); out.code != 1 || !strings.Contains(out.stderr, "left as it is") {
		t.Errorf("a second init: exit %d, %q", out.code, out.stderr)
	}
	if out := s.run(t, "suggestions", "list"); out.code != 0 || !strings.Contains(out.stdout, "My Vault/Note.md:1") {
		t.Errorf("list without arguments: exit %d, %q, %q", out.code, out.stdout, out.stderr)
	}
	if out := s.run(t, "mount", "--daemon"); out.code != 0 {
		t.Fatalf("mount without arguments: exit %d, %q", out.code, out.stderr)
	}
	checkText(t, "the note", readFile(t, s.path("mnt", "My Vault", "Note.md")), "a c d\n")
	if out := s.run(t, "unmount", s.path("mnt")); out.code != 0 {
		t.Errorf("unmount: exit %d, %q", out.code, out.stderr)
	}
}

// A flag wins over the environment, and that over the file; doctor tells which.
func TestConfigOrder(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"Note.md": "text\n"})
	file := s.path("relayfs.toml")
	writeFile(t, file, "sources = [\"V="+vault+"\"]\nmode = \"raw\"\nread-only = true\ntoolsets = [\"claude\"]\n")
	tests := []struct {
		name string
		env  string
		args []string
		want string // of stderr
	}{
		{"file", "", nil, `mode "raw" is none of`},
		{"environment", "RELAYFS_MODE=odd", nil, `mode "odd" is none of`},
		{"flag", "RELAYFS_MODE=odd", []string{"--mode", "even"}, `mode "even" is none of`},
		{"environment of another type", "RELAYFS_READ_ONLY=perhaps", nil, `RELAYFS_READ_ONLY: "perhaps"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := *s
			if tt.env != "" {
				s.env = append(s.env[:len(s.env):len(s.env)], tt.env)
			}
			out := s.run(t, append([]string{"mcp", "--config", file}, tt.args...)...)
			if out.code != 2 || !strings.Contains(out.stderr, tt.want) {
				t.Errorf("exit %d, %q, want 2 and %q", out.code, out.stderr, tt.want)
			}
		})
	}
	s.env = append(s.env, "RELAYFS_MODE=direct")
	out := s.run(t, "doctor", "--config", file)
	for _, want := range []string{file, "direct (RELAYFS_MODE)", "true (configuration)"} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out.stdout)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	s := newSandbox(t)
	tests := []struct{ name, text, want string }{
		{"not TOML", "mode = \n", "line 1"},
		{"an unknown key", "mod = \"direct\"\n", `unknown key "mod"`},
		{"a flag of one call", "daemon = true\n", `unknown key "daemon"`},
		{"a table", "[mode]\nx = 1\n", "mode: neither a string"},
		{"an array of numbers", "sources = [1]\n", "1 is not a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			out := s.run(t, "mcp", "--config", file)
			if out.code != 2 || !strings.Contains(out.stderr, tt.want) || !strings.Contains(out.stderr, file) {
				t.Errorf("exit %d, %q, want 2, the file and %q", out.code, out.stderr, tt.want)
			}
		})
	}
	if out := s.run(t, "mcp", "--config", s.path("missing.toml")); out.code != 2 || !strings.Contains(out.stderr, "missing.toml") {
		t.Errorf("a missing file: exit %d, %q", out.code, out.stderr)
	}
	if out := s.run(t, "mount"); out.code != 2 || !strings.Contains(out.stderr, "relayfs init") {
		t.Errorf("mount of nothing: exit %d, %q", out.code, out.stderr)
	}
}
