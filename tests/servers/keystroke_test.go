package servers

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A character that is typed in yjs's own client is readable on a mount. The test
// prints how long that takes: make bench shows it.
func TestTimedServerKeystroke(t *testing.T) {
	g := anyServer(t)
	g.person(t).do("create", map[string]any{"path": "Note.md", "text": "x", "id": "note-0"})
	s := harness.NewSandbox(t)
	m := s.MountAt(t, g.url+"#Team="+g.folder, s.Mkdir(t, "mnt"))
	note := filepath.Join(m.Dir, "Team", "Note.md")
	harness.FileBecomes(t, note, "x")
	cmd := exec.Command("node", "bench.mjs", "type", g.clientURL, g.room)
	cmd.Dir = harness.Repo("tests/servers")
	in, out := harness.StartPiped(t, cmd)
	defer func() {
		in.Close()
		_ = cmd.Wait()
	}()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	var times []time.Duration
	for want := "xx"; len(want) < 50; want += "x" {
		start := time.Now()
		if _, err := in.Write([]byte("x\n")); err != nil {
			t.Fatal(err)
		}
		for end := start.Add(serverPatience); ; {
			data, err := os.ReadFile(note)
			if err != nil || time.Now().After(end) {
				t.Fatalf("note is %q, %v, want %q", data, err, want)
			}
			if string(data) == want {
				break
			}
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	t.Logf("from a keystroke to a mount: p50 %v, p90 %v", times[len(times)/2], times[len(times)*9/10])
}
