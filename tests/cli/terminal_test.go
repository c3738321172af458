package cli

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// Control sequences are for people who look at a diff in a terminal that shows
// colour. Nothing else writes one, and no command asks the terminal anything.
func TestControlSequences(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", harness.ReviewNotes)
	inFile := s.Path("out")
	for _, tt := range []struct {
		name   string
		script string // $1 is relayfs, $2 the vault, $3 a file
		want   string // is shown, or is in the file
		escape bool
	}{
		{"version", `"$1" version`, "relayfs", false},
		{"doctor", `"$1" doctor "$2" || :`, "ok", false},
		{"help", `"$1" --help`, "suggestions", false},
		{"list", `"$1" suggestions list "$2"`, "4 pending suggestions", false},
		{"list in a file", `"$1" suggestions list "$2" > "$3"`, "4 pending suggestions", false},
		{"show", `"$1" suggestions show "$2"`, "apples", true},
		{"show in a file", `"$1" suggestions show "$2" > "$3"`, "{--one--}{++two++} apples", false},
		{"show through a pipe", `"$1" suggestions show "$2" | cat`, "{--one--}{++two++} apples", false},
		{"show without colour", `NO_COLOR=1 "$1" suggestions show "$2"`, "{--one--}{++two++} apples", false},
		{"show in a dumb terminal", `TERM=dumb "$1" suggestions show "$2"`, "{--one--}{++two++} apples", false},
		{"a refusal", `"$1" suggestions accept 0123456789 "$2" || :`, "is not pending", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			harness.WriteFile(t, inFile, "")
			cmd := exec.CommandContext(t.Context(), "sh", "-c", tt.script, "sh", s.Binary, vault, inFile)
			cmd.Env, cmd.Dir = s.Env, filepath.Dir(vault)
			x := harness.StartTerminal(t, cmd)
			x.Wait(t)
			got := x.Out.String() + harness.ReadFile(t, inFile)
			if !strings.Contains(got, tt.want) {
				t.Errorf("wrote %q, want %q in it", got, tt.want)
			}
			if strings.Contains(got, "\x1b") != tt.escape {
				t.Errorf("wrote %q, control sequences: want %v", got, tt.escape)
			}
		})
	}
}
