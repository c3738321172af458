package tests

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// fileModes are the two modes of a mount, as flags.
var fileModes = map[string][]string{
	"suggest": nil,
	"direct":  {"--mode", "direct", "--structure", "direct"},
}

// saver is one way in which a program saves a file. It finds note.md in dir,
// which is a folder of the mount or a plain one, and changes it.
type saver struct {
	name  string
	tools []string
	save  func(t *testing.T, dir string)
}

// shell runs a script in the folder.
func shell(script string) func(t *testing.T, dir string) {
	return program("", "sh", "-c", script)
}

// program runs a program in the folder, with the given standard input.
func program(stdin string, args ...string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// shell runs a script on the mount as a session of its own.
func (m *mount) shell(t *testing.T, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = m.path("")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}
