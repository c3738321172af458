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

// An interrupted request goes on until its process dies.
func TestKillableContext(t *testing.T) {
	t.Parallel()
	program := exec.Command("sleep", "1000")
	if err := program.Start(); err != nil {
		t.Skip(err)
	}
	interrupted := make(chan struct{})
	close(interrupted)
	request := &fuse.Context{Caller: fuse.Caller{Pid: uint32(program.Process.Pid)}, Cancel: interrupted}
	p, end := killable(request)
	defer end()
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
}

func BenchmarkKillableContext(b *testing.B) {
	request := &fuse.Context{Cancel: make(chan struct{})}
	for b.Loop() {
		p, end := killable(request)
		_ = p.Err()
		end()
	}
}
