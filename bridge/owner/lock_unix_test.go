//go:build unix

package owner

import (
	"os/exec"
	"testing"
)

func TestEnded(t *testing.T) {
	if Ended(1) { // a process of root
		t.Error("init has ended")
	}
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if !Ended(cmd.Process.Pid) {
		t.Error("a process that was waited for has not ended")
	}
}
