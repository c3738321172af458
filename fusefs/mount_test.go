package fusefs_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/relayfs/relayfs/bridge"
	"github.com/relayfs/relayfs/bridge/bridgetest"
	"github.com/relayfs/relayfs/diffwrap"
	"github.com/relayfs/relayfs/fusefs"
	"github.com/relayfs/relayfs/tests/need"
)

// The test process serves the mount. What touches the mount runs in other
// processes: a system call of this one could keep the thread that would answer it.

// mounted is a workspace on a mount of its own.
type mounted struct {
	*bridgetest.Fixture
	dir    string
	server *fusefs.Server
	log    *syncBuffer
}

func requireFUSE(t testing.TB) {
	t.Helper()
	need.Full(t, "it mounts")
	if err := fusefs.Check(t.TempDir()); err != nil {
		need.Missing(t, "no FUSE: %v", err)
	}
}

// mount mounts files, "Folder/Name.md" -> text, and unmounts when the test ends.
func mount(t testing.TB, files map[string]string, opts ...func(*bridge.Options)) *mounted {
	t.Helper()
	requireFUSE(t)
	m := &mounted{Fixture: bridgetest.New(t, files, opts...), dir: t.TempDir(), log: &syncBuffer{}}
	m.mount(t)
	return m
}

// mountWith is mount with other options of the mount itself.
func mountWith(t testing.TB, files map[string]string, opts ...func(*fusefs.Options)) *mounted {
	t.Helper()
	requireFUSE(t)
	m := &mounted{Fixture: bridgetest.New(t, files), dir: t.TempDir(), log: &syncBuffer{}}
	m.mount(t, opts...)
	return m
}

func (m *mounted) mount(t testing.TB, opts ...func(*fusefs.Options)) {
	t.Helper()
	o := fusefs.Options{Author: "tester", Logger: m.log.logger()}
	for _, opt := range opts {
		opt(&o)
	}
	server, err := fusefs.Mount(t.Context(), m.Workspace, m.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	m.server = server
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil && !t.Failed() {
			t.Errorf("unmount: %v", err)
		}
		if t.Failed() {
			t.Logf("log of the mount:\n%s", m.log)
		}
	})
}

// path is a path on the mount.
func (m *mounted) path(p string) string { return filepath.Join(m.dir, p) }

// result is what became of a program.
type result struct {
	code           int
	stdout, stderr string
}

// hangs is when a program counts as hanging.
var hangs = need.Scaled(time.Minute)

// run runs a program in dir, which it enters by itself.
func run(t testing.TB, dir, stdin string, argv ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `cd "$0" && exec "$@"`, dir}, argv...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TERM=dumb", "HOME="+os.TempDir())
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%q hangs: %v", argv, err)
	}
	if cmd.ProcessState == nil {
		t.Fatalf("%q: %v", argv, err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// sh runs a shell script in the mounted folder and fails unless it succeeds.
func (m *mounted) sh(t testing.TB, folder, script string) string {
	t.Helper()
	res := run(t, m.path(folder), "", "sh", "-c", script)
	if res.code != 0 {
		t.Fatalf("%s: exit %d: %s%s", script, res.code, res.stdout, res.stderr)
	}
	return res.stdout
}

// fails runs a shell script that must fail with this in its message.
func (m *mounted) fails(t testing.TB, folder, script, message string) {
	t.Helper()
	res := run(t, m.path(folder), "", "sh", "-c", script)
	if res.code == 0 || !strings.Contains(res.stderr, message) {
		t.Errorf("%s: exit %d, %q, want a failure that says %q", script, res.code, res.stderr, message)
	}
}

func (m *mounted) cat(t testing.TB, p string) string {
	t.Helper()
	return m.sh(t, "", "cat '"+p+"'")
}

// checkText compares texts.
func checkText(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// checkSuggested checks that the source holds exactly the difference between two
// texts as suggestions.
func (m *mounted) checkSuggested(t testing.TB, p, before, after string) {
	t.Helper()
	raw := m.SourceText(p)
	checkText(t, "original view of "+p, diffwrap.Everything.Original(raw), before)
	checkText(t, "accepted view of "+p, diffwrap.Everything.Accepted(raw), after)
	if before == after && raw != before {
		t.Errorf("source of %s is %q, want it untouched", p, raw)
	}
}

// names lists a folder of the mount.
func (m *mounted) names(t testing.TB, folder string) []string {
	t.Helper()
	return strings.Fields(m.sh(t, folder, "ls -A"))
}

func (m *mounted) checkNames(t testing.TB, folder string, want ...string) {
	t.Helper()
	if got := m.names(t, folder); !slices.Equal(got, want) {
		t.Errorf("%s holds %q, want %q", folder, got, want)
	}
}

// eventually waits until check returns nil.
func eventually(t testing.TB, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

func wants(what, got, want string) error {
	if got != want {
		return fmt.Errorf("%s is %q, want %q", what, got, want)
	}
	return nil
}
