//go:build !packaging

// Command relayfs mounts shared notes as a folder, and turns what programs write there into suggestions that
// people accept or reject.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/cli"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/tui/quietinit"
)

// The kernel delivers a process's signals to its first thread. That thread runs only the goroutine of main.
// Otherwise it could be in a system call that waits for an answer, such as a statfs of a mount whose server is
// suspended, and the signal would not be handled.
func init() { runtime.LockOSThread() }

func main() {
	quietinit.Restore()
	tuneHeap()
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		ending = append(ending, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, cli.Stderr)
	stop()
	os.Exit(code)
}
