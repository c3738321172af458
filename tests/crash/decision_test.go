package crash

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A decision on many suggestions the process of which is killed says how far it came, and what it says to type
// next does the rest, or takes back what was done.
func TestKillInADecision(t *testing.T) {
	t.Parallel()
	const notes = 400
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("one {++%d ++}two\n", i)
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	said := regexp.MustCompile(`; ([0-9]+) of 400 suggestions accepted`)
	for range 20 { // until it is killed neither before nor after
		m := s.Mount(t, vault)
		ended := make(chan harness.Output)
		go func() {
			ended <- harness.RunCommand(t, s.Command(t.Context(), "suggestions", "accept", "--all", "--yes", vault))
		}()
		var out harness.Output
		killed := false
		for running := true; running; {
			select {
			case out = <-ended:
				running = false
			default:
				if !strings.Contains(harness.ReadFile(t, filepath.Join(vault, "000.md")), "++") {
					m.Kill(t)
					killed = true
					out, running = <-ended, false
				}
				time.Sleep(time.Millisecond)
			}
		}
		left := len(s.Suggestions(t, vault))
		if out.Code == 0 || left == 0 || left == notes {
			if !killed { // the kill may come before the first decision is stored, or after the last one
				m.Stop(t)
			}
			if left < notes {
				s.Decide(t, "undo", vault)
			}
			continue
		}
		match := said.FindStringSubmatch(out.Stderr)
		if match == nil {
			t.Fatalf("%d of %d are left, and the command says %q", left, notes, out.Stderr)
		}
		if n, _ := strconv.Atoi(match[1]); n != notes-left || !strings.Contains(out.Stderr, "decide on the others with: the same command again") {
			t.Errorf("%d are left, and the command says %q", left, out.Stderr)
		}
		undo := regexp.MustCompile(`relayfs suggestions undo (\S+)`).FindStringSubmatch(out.Stderr)
		if undo == nil {
			t.Fatalf("nothing takes it back: %q", out.Stderr)
		}
		s.Decide(t, "undo", undo[1], vault)
		if got := len(s.Suggestions(t, vault)); got != notes {
			t.Errorf("after %v %d suggestions wait, want %d", undo, got, notes)
		}
		return
	}
	t.Fatal("no decision was killed in its middle")
}
