package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Init writes a configuration with Obsidian's vaults, after which commands need
// no arguments; what is on the command line still wins.
func TestConfigFromObsidian(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "My Vault", map[string]string{"Note.md": "a {--b--}{++c++} d\n"})
	s.Mkdir(t, "home", ".config", "obsidian")
	harness.WriteFile(t, s.Path("home", ".config", "obsidian", "obsidian.json"), `{"vaults":{"x":{"path":"`+vault+`","open":true},"y":{"path":"/nowhere"}}}`)

	file := s.Path("xdg", "config_home", "relayfs", "config.toml")
	out := s.Run(t, "init", "--mountpoint", s.Mkdir(t, "mnt"))
	if out.Code != 0 || strings.TrimSpace(out.Stdout) != file || !strings.Contains(out.Stderr, "vault "+vault+"\n") {
		t.Fatalf("init: exit %d, %q, %q", out.Code, out.Stdout, out.Stderr)
	}
	if out := s.Run(t, "init"); out.Code != 1 || !strings.Contains(out.Stderr, "was not changed") {
		t.Errorf("a second init: exit %d, %q", out.Code, out.Stderr)
	}
	if out := s.Run(t, "suggestions", "list"); out.Code != 0 || !strings.Contains(out.Stdout, "My Vault/Note.md:1") {
		t.Errorf("list without arguments: exit %d, %q, %q", out.Code, out.Stdout, out.Stderr)
	}
	if out := s.Run(t, "mount", "--daemon"); out.Code != 0 {
		t.Fatalf("mount without arguments: exit %d, %q", out.Code, out.Stderr)
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, s.Path("mnt", "My Vault", "Note.md")), "a c d\n")
	harness.WriteFile(t, file, "mode = = 1\n")
	if out := s.Run(t, "status"); out.Code != 2 || !strings.Contains(out.Stdout, "My Vault: 1 note,") || !strings.Contains(out.Stderr, "line 1, is not TOML") {
		t.Errorf("status with a broken configuration: exit %d, %q, %q", out.Code, out.Stdout, out.Stderr)
	}
	harness.WriteFile(t, file, "")
	if out := s.Run(t, "unmount", s.Path("mnt")); out.Code != 0 {
		t.Errorf("unmount: exit %d, %q", out.Code, out.Stderr)
	}
}

// A flag wins over the environment, and that over the file; doctor tells which.
func TestConfigOrder(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": "text\n"})
	file := s.Path("relayfs.toml")
	harness.WriteFile(t, file, "sources = [\"V="+vault+"\"]\nmode = \"raw\"\nread-only = true\ntoolsets = [\"claude\"]\n")
	tests := []struct {
		name string
		env  string
		args []string
		want string // of stderr
	}{
		{"file", "", nil, `mode "raw" is not one of`},
		{"environment", "RELAYFS_MODE=odd", nil, `mode "odd" is not one of`},
		{"flag", "RELAYFS_MODE=odd", []string{"--mode", "even"}, `mode "even" is not one of`},
		{"environment of another type", "RELAYFS_READ_ONLY=perhaps", nil, `RELAYFS_READ_ONLY: "perhaps"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := *s
			if tt.env != "" {
				s.Env = append(s.Env[:len(s.Env):len(s.Env)], tt.env)
			}
			out := s.Run(t, append([]string{"mcp", "--config", file}, tt.args...)...)
			if out.Code != 2 || !strings.Contains(out.Stderr, tt.want) {
				t.Errorf("exit %d, %q, want 2 and %q", out.Code, out.Stderr, tt.want)
			}
		})
	}
	s.Env = append(s.Env, "RELAYFS_MODE=direct")
	out := s.Run(t, "doctor", "--config", file)
	for _, want := range []string{file, "direct (RELAYFS_MODE)", "true (configuration)"} {
		if !strings.Contains(out.Stdout, want) {
			t.Errorf("doctor does not say %q:\n%s", want, out.Stdout)
		}
	}
}

// Doctor goes on with a configuration that is broken, and says of everything in it what is wrong
// and what may have been meant.
func TestDoctorChecksTheConfiguration(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": "text\n"})
	file := s.Path("xdg", "config_home", "relayfs", "config.toml")
	checkDoctor(t, s, nil, 0, file+" (there is none)")
	for text, want := range map[string][]string{
		"mode = \"direkt\"\n": {`fail  configuration: mode "direkt" is not one of`},
		"mod = \"direct\"\nview = \"raw\"\nmoutpoint = \"x\"\n": {`unknown key "mod"`, "fix: did you mean mode?", `unknown key "moutpoint"`, "fix: did you mean mountpoint?", "view: raw (configuration)"},
		"mode = = 1\n":               {"fail  configuration: ", "line 1"},
		"sources = [\"/nowhere\"]\n": {`fail  configuration: vault "/nowhere" does not exist`},
		"read-only = \"perhaps\"\n":  {`read-only: "perhaps" is not a valid bool`},
		"sources = [\"" + vault + "\"]\nhide = [\"" + vault + "/Private\"]\n": {`/Private" in hide or lock is a path on this machine`, "fix: write the path in the vault, such as Private"},
		"http = \"0.0.0.0:1\"\n": {"fail  configuration: --http 0.0.0.0:1 can be reached from other machines"},
	} {
		harness.WriteFile(t, file, text)
		checkDoctor(t, s, nil, 1, append(want, "ok    state folder: ", "configuration: "+file)...)
	}
	harness.WriteFile(t, file, "mode = \"direct\"\nsources = [\""+vault+"\"]\nmountpoint = \""+s.Mkdir(t, "mnt")+"\"\n")
	checkDoctor(t, s, nil, 0, "ok    vault Vault: ")
	s.Env = append(s.Env, "RELAYFS_MODEE=suggest", "RELAYFS_OF_ANOTHER_PROGRAM=1")
	checkDoctor(t, s, []string{vault}, 0, "warn  configuration: unknown environment variable RELAYFS_MODEE", "fix: did you mean RELAYFS_MODE?")
	if out := s.Run(t, "doctor"); strings.Contains(out.Stdout, "ANOTHER") {
		t.Errorf("a variable that is like none of ours is warned of:\n%s", out.Stdout)
	}
}

// Misspelt commands and flags are asked about.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	for want, args := range map[string][]string{
		"did you mean 'relayfs mount'?":            {"moutn"},
		"did you mean 'relayfs suggestions list'?": {"suggestions", "lst"},
		"did you mean --mode?":                     {"mount", "--moed", "direct", "a", "b"},
		"did you mean 'relayfs completion bash'?":  {"completion", "bsh"},
		"did you mean 'relayfs suggestions show'?": {"help", "suggestions", "shwo"},
		"see 'relayfs --help'":                     {"nothing-like-it"},
		`unknown command "nothing" of relayfs`:     {"help", "nothing"},
	} {
		if out := s.Run(t, args...); out.Code != 2 || !strings.Contains(out.Stderr, want) {
			t.Errorf("%v: exit %d, %s, want %s", args, out.Code, out.Stderr, want)
		}
	}
}

// What is written neither like an id or a batch nor is a vault may have been meant to be each of them.
func TestNeitherNameNorVault(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	for _, args := range [][]string{{"undo", "zz"}, {"show", "zz"}, {"accept", "12ab", "zz"}, {"threads", "zz"}, {"resolve", "12ab", "zz"},
		{"accept", "zz"}, {"reject", "zz"}, {"resolve", "zz"}, {"comment", "--text", "x", "zz"}} {
		if out := s.Run(t, append([]string{"suggestions"}, args...)...); out.Code != 1 || !strings.Contains(out.Stderr, `"zz" is not a vault, suggestion ID or batch`) {
			t.Errorf("%v: exit %d, %s", args, out.Code, out.Stderr)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	tests := []struct{ name, text, want string }{
		{"not TOML", "mode = \n", "line 1"},
		{"an unknown key", "mod = \"direct\"\n", `unknown key "mod"`},
		{"a flag of one call", "daemon = true\n", `unknown key "daemon"`},
		{"a table", "[mode]\nx = 1\n", "mode: want a string"},
		{"a relative source", "sources = [\"NAME=V\"]\n", `"NAME=V" is not an absolute path`},
		{"an array of numbers", "sources = [1]\n", "is not a string"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			out := s.Run(t, "mcp", "--config", file)
			if out.Code != 2 || !strings.Contains(out.Stderr, tt.want) || !strings.Contains(out.Stderr, file) {
				t.Errorf("exit %d, %q, want 2, the file and %q", out.Code, out.Stderr, tt.want)
			}
		})
	}
	if out := s.Run(t, "mcp", "--config", s.Path("missing.toml")); out.Code != 2 || !strings.Contains(out.Stderr, "missing.toml") {
		t.Errorf("a missing file: exit %d, %q", out.Code, out.Stderr)
	}
	if out := s.Run(t, "suggestions", "list", s.Vault(t, "Vault", map[string]string{"note.md": "text\n"}), "RELAYFS_HIDE="+s.Path("Vault", "*.md")); out.Code != 2 || !strings.Contains(out.Stderr, "is a path on this machine") {
		t.Errorf("a glob of another folder than the vault: exit %d, %q", out.Code, out.Stderr)
	}
	if out := s.Run(t, "mount"); out.Code != 2 || !strings.Contains(out.Stderr, "relayfs init") {
		t.Errorf("mount of nothing: exit %d, %q", out.Code, out.Stderr)
	}
}

// Shells complete what the running relayfs has: paths folder by folder, and mountpoints. Without one they complete files.
func TestCompletion(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": "text\n", "Projects/Plan.md": "text\n", "Projects/Odd\x1b[m.md": "text\n"})
	complete := func(words ...string) []string {
		t.Helper()
		out := s.Run(t, append([]string{"__complete"}, words...)...)
		lines := strings.Split(strings.TrimSpace(out.Stdout), "\n")
		if out.Code != 0 || !strings.HasPrefix(lines[len(lines)-1], ":") {
			t.Fatalf("%v: exit code %d, %q", words, out.Code, out.Stdout)
		}
		return lines[:len(lines)-1]
	}
	if got := complete("cat", ""); len(got) != 0 {
		t.Errorf("without a mount: %q", got)
	}
	m := s.Mount(t, vault, "--author", "claude")
	harness.WriteFile(t, m.Path("Projects/Plan.md"), "other\n")
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{[]string{"cat", ""}, "Vault/"},
		{[]string{"ls", "Vault/"}, "Vault/Projects/ Vault/note.md"},
		{[]string{"edit", "Vault/Projects/"}, "Vault/Projects/Plan.md"},
		{[]string{"grep", ""}, ""},
		{[]string{"grep", "x", "Vault/n"}, "Vault/note.md"},
		{[]string{"unmount", m.Dir}, m.Dir},
	} {
		if got := strings.Join(complete(tt.words...), " "); got != tt.want {
			t.Errorf("%v: got %q, want %q", tt.words, got, tt.want)
		}
	}
	m.Stop(t)
}
