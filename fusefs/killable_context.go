//go:build !windows

package fusefs

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// killableContext is a request's context that is cancelled only when the requesting process dies. The kernel interrupts
// a request for any signal, even a signal that does not end the process. On a disk such signals do not interrupt calls,
// so programs do not expect interrupted calls.
//
// The kernel interrupts a request only once. After that a goroutine must check whether the process is dying; if its
// state is unknown, it counts as dying. This goroutine runs only if a caller waits for Done.
type killableContext struct {
	context.Context // context of the request

	watching sync.Once
	dying    chan struct{} // closed when the process dies
	ended    chan struct{} // closed by End
}

// newKillableContext returns the context of a request. The caller must call End.
func newKillableContext(request context.Context) *killableContext {
	return &killableContext{Context: request, dying: make(chan struct{}), ended: make(chan struct{})}
}

func (p *killableContext) End() { close(p.ended) }

func (p *killableContext) Done() <-chan struct{} {
	if p.Context.Done() == nil { // the request cannot be interrupted
		return nil
	}
	p.watching.Do(func() { go p.watch() })
	return p.dying
}

func (p *killableContext) Err() error {
	select {
	case <-p.dying:
		return context.Canceled
	default:
		return nil
	}
}

const deathPollInterval = 100 * time.Millisecond

// watch closes dying when the kernel has interrupted the request and its process dies.
func (p *killableContext) watch() {
	select {
	case <-p.ended:
		return
	case <-p.Context.Done():
	}
	var thread uint32
	if caller, ok := fuse.FromContext(p.Context); ok {
		thread = caller.Pid
	}
	for !isDying(thread) {
		select {
		case <-p.ended:
			return
		case <-time.After(deathPollInterval):
		}
	}
	close(p.dying)
}

// isDying reports whether a thread has ended or is about to end. It returns true if the state of the thread is unknown,
// as on macOS or for a process outside of this PID namespace.
func isDying(thread uint32) bool {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	return err != nil || hasFatalSignal(status)
}

// nonFatalSignals are the signals whose default action does not end a process, see signal(7).
const nonFatalSignals = 1<<(syscall.SIGCHLD-1) | 1<<(syscall.SIGCONT-1) | 1<<(syscall.SIGURG-1) | 1<<(syscall.SIGWINCH-1) |
	1<<(syscall.SIGSTOP-1) | 1<<(syscall.SIGTSTP-1) | 1<<(syscall.SIGTTIN-1) | 1<<(syscall.SIGTTOU-1)

// hasFatalSignal reports whether /proc/PID/status lists a pending signal that will end the thread: a signal that is not
// blocked, ignored or handled.
func hasFatalSignal(status []byte) bool {
	pending := setIn(status, "SigPnd") | setIn(status, "ShdPnd")
	spared := setIn(status, "SigBlk") | setIn(status, "SigIgn") | setIn(status, "SigCgt")
	return pending&^spared&^nonFatalSignals != 0
}

// setIn returns a set of signals or capabilities in the text of /proc/PID/status, or 0 if the text does not have it.
func setIn(status []byte, name string) uint64 {
	set, _ := strconv.ParseUint(program.Field(status, name), 16, 64)
	return set
}
