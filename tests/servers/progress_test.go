package servers

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// largeFolder serves a folder that takes a while to be fetched.
func largeFolder(t *testing.T) *sharedFolder {
	t.Helper()
	notes := make(map[string]string)
	for i := range 800 {
		notes[fmt.Sprintf("folder %d/note %d.md", i%20, i)] = strings.Repeat(fmt.Sprintf("line of note %d\n", i), 50)
	}
	return shareFolder(t, "Large", notes)
}

// onceFetched is the last state of the line that tells of largeFolder.
const onceFetched = "Large: 800 of 800 notes"

// The first fetch of a large folder tells on a terminal how far it is: in one
// line that is replaced, no wider than the terminal, without colours.
func TestServerProgress(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	y := largeFolder(t)
	for name, c := range map[string]struct {
		env  string
		cols int
	}{"wide": {"", 100}, "narrow, no colour": {"NO_COLOR=1", 20}} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			s.Env = append(s.Env, "RELAYFS_TOKEN="+y.token(t), c.env)
			dir := s.Mkdir(t, "mnt")
			x := harness.StartTerminal(t, s.Command(t.Context(), append(append([]string{"mount"}, y.source()...), dir)...))
			if err := pty.Setsize(x.Keys, &pty.Winsize{Rows: 24, Cols: uint16(c.cols)}); err != nil {
				t.Fatal(err)
			}
			x.Shows(t, "mounted "+dir)
			x.Shows(t, onceFetched)
			x.Press(t, "\x03")
			x.Wait(t)
			checkProgress(t, x.Out.String(), "mounted "+dir, c.cols)
		})
	}
	t.Run("MCP", func(t *testing.T) { progressOfMCP(t, y) })
	t.Run("log", func(t *testing.T) { noProgressInALog(t, y) })
	t.Run("dumb terminal", func(t *testing.T) { noProgressOnADumbTerminal(t, y) })
}

// checkProgress looks at everything that a terminal was sent.
func checkProgress(t *testing.T, sent, message string, cols int) {
	t.Helper()
	before, _, _ := strings.Cut(sent, onceFetched)
	states := strings.Split(before, "\r\x1b[K")
	told := 0
	for _, state := range states {
		line, rest, _ := strings.Cut(state, "\r\n") // a message, and the line again
		for _, shown := range []string{line, rest} {
			if strings.HasPrefix(shown, "Large: ") && len(shown) >= cols {
				t.Errorf("%q is wider than the terminal", shown)
			}
		}
		if full.MatchString(state) {
			told++
		}
	}
	if cols >= 80 && told == 0 {
		t.Errorf("count, rate and time left are not in %q", states)
	}
	if !strings.Contains(strings.ReplaceAll("\n"+before, "\r\x1b[K", "\n"), "\n"+message) {
		t.Errorf("%q has no line of its own in %q", message, sent)
	}
	if strings.Contains(strings.ReplaceAll(sent, "\x1b[K", ""), "\x1b") {
		t.Errorf("more than a replaced line is in %q", sent)
	}
}

var full = regexp.MustCompile(`Large: \d+ of 800 notes, \d+ a second, (\d+m)?\d+s left$`)

// An MCP client that shows what goes to stderr on a terminal is told as well.
func progressOfMCP(t *testing.T, y *sharedFolder) {
	s := harness.NewSandbox(t)
	s.Env = append(s.Env, "RELAYFS_TOKEN="+y.token(t))
	x := harness.StartTerminal(t, s.Command(t.Context(), append([]string{"mcp"}, y.source()...)...))
	x.Shows(t, onceFetched)
	x.Press(t, "\x04") // the end of its input
	x.Wait(t)
	checkProgress(t, x.Out.String(), "", 100)
}

// Where nothing can be replaced nothing is told.
func noProgressInALog(t *testing.T, y *sharedFolder) {
	s := harness.NewSandbox(t)
	s.Env = append(s.Env, "RELAYFS_TOKEN="+y.token(t))
	m := s.MountAt(t, y.source()[0], s.Mkdir(t, "mnt"), y.source()[1:]...)
	statusTells(t, s, "everything is acknowledged\n")
	if log := m.Log.String(); strings.Contains(log, "Large: ") || strings.Contains(log, "\x1b") {
		t.Errorf("the log is %q", log)
	}
	m.Stop(t)
}

func noProgressOnADumbTerminal(t *testing.T, y *sharedFolder) {
	s := harness.NewSandbox(t)
	dir := s.Mkdir(t, "mnt")
	cmd := exec.CommandContext(t.Context(), "env", append([]string{"TERM=dumb", s.Binary, "mount"}, append(y.source(), dir)...)...)
	cmd.Env = append(s.Env, "RELAYFS_TOKEN="+y.token(t))
	x := harness.StartTerminal(t, cmd)
	x.Shows(t, "mounted "+dir)
	statusTells(t, s, "everything is acknowledged\n")
	x.Press(t, "\x03")
	x.Wait(t)
	if sent := x.Out.String(); strings.Contains(sent, "Large: ") || strings.Contains(sent, "\x1b") {
		t.Errorf("a dumb terminal was sent %q", sent)
	}
}
