//go:build !windows

package fusefs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// killableContext is the context of a request that only the death of its process cancels. The
// kernel interrupts a request for any signal, even one that the process handles and survives. Calls
// on a disk are not interrupted by such signals, and programs do not expect it.
//
// The kernel interrupts a request only once. From then on a goroutine must check whether the
// process dies. It checks only if a caller waits for Done and the kernel has interrupted.
type killableContext struct {
	context.Context // of the request

	mu    sync.Mutex    // guards the fields below
	dying chan struct{} // closed when the process dies; nil until a caller waits
	ended chan struct{} // closed by End; nil until a caller waits
}

// newKillableContext returns the context of a request. The caller must call End.
func newKillableContext(request context.Context) *killableContext {
	return &killableContext{Context: request}
}

func (p *killableContext) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		close(p.ended)
		p.ended = nil
	}
}

func (p *killableContext) Done() <-chan struct{} {
	interrupted := p.Context.Done()
	if interrupted == nil { // the request cannot be interrupted
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dying == nil {
		p.dying, p.ended = make(chan struct{}), make(chan struct{})
		go watch(p.Context, p.dying, p.ended)
	}
	return p.dying
}

func (p *killableContext) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.dying:
		return context.Canceled
	default:
		return nil
	}
}

const deathPollInterval = 100 * time.Millisecond

// watch closes dying when the kernel has interrupted a request and its process dies. It returns
// early when answers is closed.
func watch(request context.Context, dying chan<- struct{}, answers <-chan struct{}) {
	select {
	case <-answers:
		return
	case <-request.Done():
	}
	var thread uint32
	if caller, ok := fuse.FromContext(request); ok {
		thread = caller.Pid
	}
	tick := time.NewTicker(deathPollInterval)
	defer tick.Stop()
	for !isDying(thread) {
		select {
		case <-answers:
			return
		case <-tick.C:
		}
	}
	close(dying)
}

// isDying reports whether a thread has ended or is about to. Where that is unknown, as on macOS or
// for a process of another machine's namespace, it returns true.
func isDying(thread uint32) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	return err != nil || hasFatalSignal(status)
}

// nonFatalSignals are the signals that end no process: by default they are ignored or stop it, see
// signal(7).
var nonFatalSignals = signals(syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH,
	syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU)

func signals(list ...syscall.Signal) (set uint64) {
	for _, s := range list {
		set |= 1 << (s - 1)
	}
	return set
}

// hasFatalSignal reports whether /proc/PID/status lists a pending signal that will end the thread:
// one that is not blocked, ignored or handled.
func hasFatalSignal(status []byte) bool {
	var pending, spared uint64
	for line := range bytes.Lines(status) {
		key, value, _ := bytes.Cut(line, []byte(":"))
		set, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64)
		if err != nil {
			continue
		}
		switch string(key) {
		case "SigPnd", "ShdPnd":
			pending |= set
		case "SigBlk", "SigIgn", "SigCgt":
			spared |= set
		}
	}
	return pending&^spared&^nonFatalSignals != 0
}
