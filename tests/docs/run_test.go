package docs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// The blocks marked `console run` of a page are one session on the sample vault. What a command prints is what stands below
// it; a line `...` is any number of lines.
func TestSessions(t *testing.T) {
	ran := 0
	for _, p := range readPages(t) {
		var lines []string
		for _, b := range p.blocks {
			if b.info == "console run" {
				lines = append(lines, b.lines...)
			}
		}
		if lines == nil {
			continue
		}
		ran++
		t.Run(filepath.Base(p.name), func(t *testing.T) { runSession(t, lines) })
	}
	if ran == 0 {
		t.Error("no page has a session to run")
	}
}

func runSession(t *testing.T, lines []string) {
	s := harness.NewSandbox(t)
	s.SampleVault(t)
	mnt := s.Mkdir(t, "mnt")
	s.Env = append(s.Env, "RELAYFS_AUTHOR=me", pathWithRelayfs(t, s))
	if slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "$ relayfs mount") }) {
		harness.RequireFUSE(t)
		t.Cleanup(func() {
			if harness.IsMounted(mnt) {
				s.Run(t, "unmount", mnt)
			}
		})
	}
	for i := 0; i < len(lines); {
		command, ok := strings.CutPrefix(lines[i], "$ ")
		if !ok {
			t.Fatalf("%q stands below no command", lines[i])
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "$ ") {
			end++
		}
		want := lines[i+1 : end]
		i = end
		if got := shell(t, s, command); !matches(got, want) {
			t.Fatalf("$ %s\ngot:\n%s\nwant:\n%s", command, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// pathWithRelayfs is a PATH in which relayfs is the program under test.
func pathWithRelayfs(t *testing.T, s *harness.Sandbox) string {
	t.Helper()
	if err := os.Symlink(s.Binary, filepath.Join(s.Mkdir(t, "bin"), "relayfs")); err != nil {
		t.Fatal(err)
	}
	return "PATH=" + s.Path("bin") + string(os.PathListSeparator) + os.Getenv("PATH")
}

// shell runs a command, which must succeed, and returns the lines that it prints.
func shell(t *testing.T, s *harness.Sandbox, command string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.StartTimeout)
	defer cancel()
	file, err := os.CreateTemp(s.Dir, "output") // a daemon would keep a pipe open
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, s.Env, file, file
	runErr := cmd.Run()
	text := strings.TrimRight(harness.ReadFile(t, file.Name()), "\n")
	if runErr != nil {
		t.Fatalf("$ %s: %v\n%s", command, runErr, text)
	}
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// changing is what differs from run to run: batches, ids, times and temporary folders.
var changing = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\b\d{8}T\d{6}\.\d{3}-[0-9a-f]{8}\b`), "BATCH"},
	{regexp.MustCompile(`\b[0-9a-f]{10}\b`), "ID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`), "TIME"},
	{regexp.MustCompile(`/\S*/relayfs-[^/ ]*`), "DIR"},
	{regexp.MustCompile(` +`), " "},
	{regexp.MustCompile(` $`), ""},
}

func stable(line string) string {
	for _, c := range changing {
		line = c.pattern.ReplaceAllString(line, c.name)
	}
	return line
}

// matches says whether the lines are those wanted, where "..." stands for any number.
func matches(got, want []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case want[0] == "...":
		return matches(got, want[1:]) || len(got) > 0 && matches(got[1:], want)
	}
	return len(got) > 0 && stable(got[0]) == stable(want[0]) && matches(got[1:], want[1:])
}
