package docs

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// The blocks of a page marked `console run` or `sh run` are one session on the sample vault, which is ~/Documents/MyVault,
// too. In the first kind, what a command prints is what stands below it; a line `...` is any number of lines, and `->` begins
// a request over MCP. In the second kind a command may print anything, and may go on once it is ready, to the end of its block.
func TestSessions(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, p := range readPages(t) {
		var blocks [][]step
		for _, b := range p.blocks {
			switch b.info {
			case "console run":
				blocks = append(blocks, consoleSteps(t, b.lines))
			case "sh run":
				blocks = append(blocks, shellSteps(b.lines))
			}
		}
		if blocks == nil {
			continue
		}
		ran++
		t.Run(filepath.Base(p.name), func(t *testing.T) {
			t.Parallel()
			runSession(t, blocks)
		})
	}
	if ran == 0 {
		t.Error("no page has a session to run")
	}
}

// step is one command of a session.
type step struct {
	command string
	request string   // or what a client over MCP sends
	want    []string // what it prints
	stays   bool     // it may go on
}

func consoleSteps(t *testing.T, lines []string) (steps []step) {
	t.Helper()
	for _, line := range lines {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			command, stays := strings.CutSuffix(command, " &")
			steps = append(steps, step{command: command, stays: stays})
			continue
		}
		if request, ok := strings.CutPrefix(line, "-> "); ok {
			steps = append(steps, step{request: request})
			continue
		}
		if len(steps) == 0 {
			t.Fatalf("%q stands below no command", line)
		}
		last := &steps[len(steps)-1]
		switch {
		case last.request != "" && !json.Valid([]byte(last.request)):
			last.request += line
		case line != "": // between commands
			last.want = append(last.want, line)
		}
	}
	return steps
}

// port is that of an address in a command. A session takes a free one.
var port = regexp.MustCompile(`\b127\.0\.0\.1:\d+`)

func shellSteps(lines []string) (steps []step) {
	for _, line := range lines {
		steps = append(steps, step{command: port.ReplaceAllString(line, "127.0.0.1:0"), want: []string{"..."}, stays: true})
	}
	return steps
}

// others are programs that pages name and that do nothing here.
var others = []string{"claude", "systemctl", "xdg-open"}

func runSession(t *testing.T, blocks [][]step) {
	s := harness.NewSandbox(t)
	vault := s.SampleVault(t)
	mnt := s.Mkdir(t, "mnt")
	documents := s.Mkdir(t, "home", "Documents")
	if err := os.CopyFS(filepath.Join(documents, "MyVault"), os.DirFS(vault)); err != nil {
		t.Fatal(err)
	}
	s.Env = append(s.Env, "RELAYFS_AUTHOR=me", pathWithRelayfs(t, s))
	for _, name := range others {
		harness.WriteProgram(t, s.Path("bin", name), "#!/bin/sh\n")
	}
	mounts := func(st step) bool { return strings.HasPrefix(st.command, "relayfs mount") }
	if slices.ContainsFunc(blocks, func(steps []step) bool { return slices.ContainsFunc(steps, mounts) }) {
		harness.RequireFUSE(t)
		t.Cleanup(func() {
			if harness.IsMounted(mnt) {
				s.Command(context.Background(), "unmount", mnt).Run()
			}
		})
	}
	for _, steps := range blocks {
		var end []func()
		for _, st := range steps {
			var got []string
			if st.request != "" {
				got = call(t, s, vault, st.request)
			} else {
				lines, stop := shell(t, s, st)
				got, end = lines, append(end, stop)
			}
			if !matches(got, st.want) {
				t.Fatalf("$ %s\ngot:\n%s\nwant:\n%s", st.command, strings.Join(got, "\n"), strings.Join(st.want, "\n"))
			}
		}
		for _, stop := range slices.Backward(end) {
			stop()
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

// call has a client over MCP, which has read the note, send a request.
func call(t *testing.T, s *harness.Sandbox, vault, request string) []string {
	t.Helper()
	var message struct {
		Params struct {
			Name      string
			Arguments struct {
				File string `json:"file_path"`
				Old  string `json:"old_string"`
				New  string `json:"new_string"`
			}
		}
	}
	if err := json.Unmarshal([]byte(request), &message); err != nil || message.Params.Name != "edit" {
		t.Fatalf("no request to edit: %v\n%s", err, request)
	}
	args := message.Params.Arguments
	c := s.MCP(t, vault)
	c.MustCall(t, "read", "file_path", args.File)
	return strings.Split(c.MustCall(t, "edit", "file_path", args.File, "old_string", args.Old, "new_string", args.New), "\n")
}

// ready is what relayfs prints when it goes on serving.
var ready = regexp.MustCompile(`(?m)^(mounted|serving) |^http://127`)

// shell runs a command, which must succeed, and returns the lines that it prints until it has ended, or stays and is ready;
// stop ends it then.
func shell(t *testing.T, s *harness.Sandbox, st step) (lines []string, stop func()) {
	t.Helper()
	file, err := os.CreateTemp(s.Dir, "output") // a daemon would keep a pipe open
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd := exec.Command("bash", "-c", st.command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, s.Env, file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var runErr error
	ended := make(chan struct{})
	go func() {
		runErr = cmd.Wait()
		close(ended)
	}()
	stop = func() {
		select {
		case <-ended:
		default:
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) // it may end by itself meanwhile
			<-ended
		}
	}
	t.Cleanup(stop)
	harness.WaitFor(t, "the end of $ "+st.command, func() bool {
		select {
		case <-ended:
			if runErr != nil {
				t.Fatalf("$ %s: %v\n%s", st.command, runErr, harness.ReadFile(t, file.Name()))
			}
			return true
		default:
			return st.stays && ready.MatchString(harness.ReadFile(t, file.Name()))
		}
	})
	text := strings.TrimRight(harness.ReadFile(t, file.Name()), "\n")
	if text == "" {
		return nil, stop
	}
	return strings.Split(text, "\n"), stop
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
