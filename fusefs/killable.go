//go:build !windows

package fusefs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const deathPollInterval = 100 * time.Millisecond

// killable returns a request's context that is cancelled only when the requesting process dies. The kernel interrupts a
// request for any signal, even a signal that does not end the process. On a disk such signals do not interrupt calls,
// so programs do not expect interrupted calls. The caller must call end.
//
// The kernel interrupts a request only once. After that a goroutine must check whether the process is dying; if its
// state is unknown, it counts as dying.
func killable(request context.Context) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(request))
	stop := context.AfterFunc(request, func() {
		var thread uint32
		if caller, ok := fuse.FromContext(request); ok {
			thread = caller.Pid
		}
		for ctx.Err() == nil && !isDying(thread) {
			time.Sleep(deathPollInterval)
		}
		cancel()
	})
	return ctx, func() {
		stop()
		cancel()
	}
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

// setIn returns a set of signals or capabilities in the text of /proc/PID/status, or 0 if the text does not have it. See
// proc_pid_status(5).
func setIn(status []byte, name string) uint64 {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			set, _ := strconv.ParseUint(string(bytes.TrimSpace(value)), 16, 64)
			return set
		}
	}
	return 0
}
