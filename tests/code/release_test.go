package code

import (
	"os/exec"
	"strings"
	"testing"

	modpath "golang.org/x/mod/module"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The Go module format refuses some file names (emoji, apostrophes), and one
// such name anywhere in the repository breaks `go install ...@latest` for all.
func TestEveryFileNameFitsTheModuleFormat(t *testing.T) {
	need.Programs(t, "git")
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	cmd.Dir = harness.Repo()
	out, err := cmd.Output()
	if err != nil || len(out) == 0 {
		need.Missing(t, "not a git checkout: %v", err)
	}
	folded := make(map[string]string)
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if err := modpath.CheckFilePath(name); err != nil {
			t.Error(err)
		}
		if other, taken := folded[strings.ToLower(name)]; taken {
			t.Errorf("%s and %s are one file where case does not count", name, other)
		}
		folded[strings.ToLower(name)] = name
	}
}
