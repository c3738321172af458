package docs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// languages are those of blocks that somebody copies into a terminal or a file.
var languages = []string{"sh", "console", "toml", "yaml", "json", "js", "ini"}

// Every block that somebody copies is run here, or says which tests run it, or why none can.
func TestEveryBlockIsRun(t *testing.T) {
	t.Parallel()
	for _, p := range readPages(t) {
		for _, b := range p.blocks {
			language, mark, _ := strings.Cut(b.info, " ")
			if !copied(language, b.lines) {
				continue
			}
			where, tested := strings.CutPrefix(mark, "tested by ")
			reason, not := strings.CutPrefix(mark, "not run: ")
			switch {
			case mark == "run" && runs[language]:
			case tested:
				if _, err := os.Stat(harness.Repo(where)); err != nil {
					t.Errorf("%s: %q is tested by what is not there: %v", p.name, b.lines[0], err)
				}
			case not && reason != "":
			default:
				t.Errorf("%s: %q is marked %q: want 'run', 'tested by FOLDER' or 'not run: REASON'", p.name, b.lines[0], b.info)
			}
		}
	}
}

// runs are the languages that TestSessions, TestConfigurations and TestClientConfigurations run.
var runs = map[string]bool{"sh": true, "console": true, "toml": true, "json": true}

// copied says whether a block is for a terminal or a file; text is if it shows what is typed.
func copied(language string, lines []string) bool {
	return slices.Contains(languages, language) || language == "text" && (strings.HasPrefix(lines[0], "$ ") || strings.HasPrefix(lines[0], "/"))
}

// blocksOf returns the blocks that are marked so, of which there must be one.
func blocksOf(t *testing.T, info string) (texts []string) {
	t.Helper()
	for _, p := range readPages(t) {
		for _, b := range p.blocks {
			if b.info == info {
				texts = append(texts, strings.Join(b.lines, "\n")+"\n")
			}
		}
	}
	if texts == nil {
		t.Fatalf("no block is marked %q", info)
	}
	return texts
}

// A configuration that the manual shows is one that mounts.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	for _, text := range blocksOf(t, "toml run") {
		s := harness.NewSandbox(t)
		for _, dir := range []string{"Notes", "team", "relayfs"} {
			s.Mkdir(t, "home", dir)
		}
		file := s.Path("config.toml")
		harness.WriteFile(t, file, text)
		if out := s.Run(t, "doctor", "--config", file); out.Code != 0 || strings.Contains(out.Stdout, "warn  configuration: ") {
			t.Errorf("doctor says of\n%s\n%s", text, out.Stdout)
		}
	}
}

// A client that is configured as the manual shows gets the notes.
func TestClientConfigurations(t *testing.T) {
	t.Parallel()
	for _, text := range blocksOf(t, "json run") {
		var config struct {
			Servers map[string]struct {
				Command string
				Args    []string
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal([]byte(text), &config); err != nil || len(config.Servers) == 0 {
			t.Fatalf("no servers: %v\n%s", err, text)
		}
		for name, server := range config.Servers {
			s := harness.NewSandbox(t)
			s.Vault(t, filepath.Join("home", "Documents", "MyVault"), map[string]string{"note.md": "text\n"})
			for i, arg := range server.Args {
				server.Args[i] = strings.Replace(arg, "/home/me", s.Path("home"), 1)
			}
			if server.Command != "relayfs" || server.Args[0] != "mcp" {
				t.Fatalf("%s runs %s %v", name, server.Command, server.Args)
			}
			c := s.MCP(t, server.Args[1:]...)
			if got := c.MustCall(t, "read", "file_path", "MyVault/note.md"); !strings.Contains(got, "text") {
				t.Errorf("%s reads %q", name, got)
			}
		}
	}
}
