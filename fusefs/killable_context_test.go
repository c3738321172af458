//go:build !windows

package fusefs

import (
	"context"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/tests/need"
)

func TestFatalSignals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, status string
		want         bool
	}{
		{"none", "SigPnd:\t0000000000000000\nShdPnd:\t0000000000000000\n", false},
		{"SIGKILL of the thread", "SigPnd:\t0000000000000100\nSigCgt:\t0000000000000000\n", true},
		{"SIGTERM of the process", "ShdPnd:\t0000000000004000\n", true},
		{"SIGALRM, handled", "ShdPnd:\t0000000000002000\nSigCgt:\t0000000000002000\n", false},
		{"SIGALRM, not handled", "ShdPnd:\t0000000000002000\nSigCgt:\t0000000000000001\n", true},
		{"SIGINT, ignored", "ShdPnd:\t0000000000000002\nSigIgn:\t0000000000000002\n", false},
		{"SIGINT, blocked", "ShdPnd:\t0000000000000002\nSigBlk:\t0000000000000002\n", false},
		{"SIGTSTP", "ShdPnd:\t0000000000080000\n", false},
		{"nonsense", "SigPnd:\nShdPnd: zz\n", false},
	} {
		if got := hasFatalSignal([]byte(tt.status)); got != tt.want {
			t.Errorf("%s: got %t, want %t", tt.name, got, tt.want)
		}
	}
}

// An interrupted request goes on until its process dies, and only who waits has it watched.
func TestKillableContext(t *testing.T) {
	t.Parallel()
	program := exec.Command("sleep", "1000")
	if err := program.Start(); err != nil {
		t.Skip(err)
	}
	interrupted := make(chan struct{})
	close(interrupted)
	request := &fuse.Context{Caller: fuse.Caller{Pid: uint32(program.Process.Pid)}, Cancel: interrupted}
	p := newKillableContext(request)
	defer p.End()
	if err := p.Err(); err != nil {
		t.Errorf("a request is over before anybody waits: %v", err)
	}
	select {
	case <-p.Done():
		t.Error("a request is over while its process lives")
	case <-time.After(3 * deathPollInterval):
	}
	_ = program.Process.Signal(syscall.SIGKILL)
	_ = program.Wait() // it says that it was killed
	select {
	case <-p.Done():
	case <-time.After(need.Scaled(10 * time.Second)):
		t.Fatal("a request goes on although its process is dead")
	}
	if err := p.Err(); err != context.Canceled {
		t.Errorf("the error of a request of a dead process: got %v, want %v", err, context.Canceled)
	}
	if done := newKillableContext(context.WithoutCancel(request)).Done(); done != nil {
		t.Errorf("what nobody interrupts is watched")
	}
}

// Who does not wait pays one small object.
func BenchmarkKillableContext(b *testing.B) {
	request := &fuse.Context{Cancel: make(chan struct{})}
	for b.Loop() {
		p := newKillableContext(request)
		_ = p.Err()
		p.End()
	}
}
