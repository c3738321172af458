package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// A linter finds nothing in the pages, and a spell checker for British English no word that it does not know. Words of this
// project go into cspell.json; what stands in code is not checked.
func TestLanguage(t *testing.T) {
	t.Parallel()
	need.Programs(t, "node")
	pages := readPages(t)
	for _, checker := range []struct {
		command []string
		read    string // what it says of the number of files
	}{
		{[]string{"markdownlint-cli2", "--no-globs", "--config", ".markdownlint-cli2.jsonc"}, "Linting: %d file(s)"},
		{[]string{"cspell", "--config", "cspell.json", "--root", harness.Repo(), "--no-progress", "--unique"}, "Files checked: %d,"},
	} {
		t.Run(checker.command[0], func(t *testing.T) {
			program := filepath.Join("node_modules", ".bin", checker.command[0])
			if _, err := os.Stat(program); err != nil {
				need.Missing(t, "tests/scripts/deps.sh installs it: %v", err)
			}
			words := slices.Concat([]string{program}, checker.command[1:])
			for page := range pages {
				words = append(words, harness.Repo(page))
			}
			out := harness.OutputIn(t, ".", words)
			read := fmt.Sprintf(checker.read, len(pages))
			if said := out.Stdout + out.Stderr; out.Code != 0 || !strings.Contains(said, read) {
				t.Errorf("exit code %d, want 0 and %q\n%s", out.Code, read, said)
			}
		})
	}
}
