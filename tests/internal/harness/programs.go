//go:build linux

package harness

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// FileModes maps the two modes of a mount to their flags.
var FileModes = map[string][]string{
	"suggest": nil,
	"direct":  {"--mode", "direct", "--structure", "direct"},
}

func Shell(script string) func(t *testing.T, dir string) {
	return Program("", "sh", "-c", script)
}

func Program(stdin string, args ...string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), StartTimeout)
		defer cancel()
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir
		cmd.Stdin = strings.NewReader(stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

func (m *Mount) Shell(t *testing.T, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir = m.Path("")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", script, err, out)
	}
}
