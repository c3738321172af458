package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// TestCommandLine runs testdata/script/*.txtar: what the commands print, where,
// and with which exit code. The command `exits CODE PROGRAM...` runs a program
// and checks its exit code exactly.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	relayfs := harness.Binary(t)
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(harness.QueueTimeout),
		Setup: func(env *testscript.Env) error {
			bin := filepath.Join(env.WorkDir, ".bin")
			env.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			run := filepath.Join(env.WorkDir, "run")
			env.Setenv("XDG_RUNTIME_DIR", run)
			// A script that fails on its way leaves its daemon to this.
			mnt := filepath.Join(env.WorkDir, "mnt")
			env.Defer(func() {
				if harness.IsMounted(mnt) {
					_ = exec.Command(relayfs, "unmount", mnt).Run()
				}
			})
			return errors.Join(os.Mkdir(run, 0o700), os.Mkdir(bin, 0o700), os.Symlink(relayfs, filepath.Join(bin, "relayfs")))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		// fuse: all tests are to run, and this machine can mount.
		Condition: func(name string) (bool, error) {
			if name != "fuse" {
				return false, errors.New("unknown condition")
			}
			if os.Getenv("RELAYFS_TESTS") != "all" {
				return false, nil
			}
			f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
			if err == nil {
				f.Close()
			}
			return err == nil || os.Getenv("CI") == "true", nil
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
