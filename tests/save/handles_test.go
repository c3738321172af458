package save

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// A process that may have few files open holds only some of them after saves, however
// fast they come: what they replaced is let go of.
func TestSavesHoldFewFiles(t *testing.T) {
	t.Parallel()
	need.Programs(t, "sh")
	const limit, notes, rounds = 256, 300, 2
	files := make(map[string]string)
	for i := range notes {
		files[fmt.Sprintf("n%d.md", i)] = "one\n"
	}
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", files)
	limited := s.Path("limited")
	harness.WriteProgram(t, limited, fmt.Sprintf("#!/bin/sh\nulimit -n %d && exec %s \"$@\"\n", limit, s.Binary))
	s.Binary = limited
	m := s.Mount(t, vault)
	before := openNotes(t, m.Cmd.Process.Pid)
	most := 0
	for round := range rounds {
		for name := range files {
			if err := os.WriteFile(m.Path(name), []byte(fmt.Sprintf("two %d\n", round)), 0); err != nil {
				t.Fatal(err)
			}
			most = max(most, openNotes(t, m.Cmd.Process.Pid)-before)
		}
	}
	t.Logf("%d files more than the %d before", most, before)
	if most >= limit/4 {
		t.Errorf("%d files are held after saves, of %d that may be open", most, limit)
	}
}

// openNotes is how many files of notes a process has open.
func openNotes(t *testing.T, pid int) int {
	t.Helper()
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "/dev/") {
			n++
		}
	}
	return n
}
