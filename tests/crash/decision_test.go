package crash

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A decision on many suggestions whose process is killed says what to look at. The log has the batch, and undoing it takes
// back what was done.
func TestKillInADecision(t *testing.T) {
	t.Parallel()
	const notes = 400
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("one {++%d ++}two\n", i)
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
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
		if !strings.Contains(out.Stderr, "some of 400 suggestions may be accepted") || !strings.Contains(out.Stderr, "'relayfs suggestions log' the batch to undo") {
			t.Errorf("%d of %d are left, and the command says %q", left, notes, out.Stderr)
		}
		batch, _, _ := strings.Cut(s.DecideOn(t, 0, "log", "--limit", "1", vault).Stdout, " ")
		s.Decide(t, "undo", batch, vault)
		if got := len(s.Suggestions(t, vault)); got != notes {
			t.Errorf("after the undo of %s %d suggestions wait, want %d", batch, got, notes)
		}
		return
	}
	t.Fatal("no decision was killed in its middle")
}
