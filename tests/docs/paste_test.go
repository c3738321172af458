package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Texts of ours that users paste into a vault hold no marks there: a review would show suggestions that nobody made.
func TestPastedTextsHaveNoMarks(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"relayfs help agent": harness.NewSandbox(t).Run(t, "help", "agent").Stdout}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../packaging/claude-plugin/skills/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(data)
		}
	}
	for name, text := range texts {
		for _, s := range diffwrap.Suggestions(text) {
			t.Errorf("%s:%d: pasted into a note this is a suggestion: -%q +%q", name, s.Line, s.Old, s.New)
		}
		for _, thread := range diffwrap.Threads(text) {
			t.Errorf("%s: pasted into a note this is a comment: %q", name, text[thread.Start:thread.End])
		}
	}
}
