// Command relayfs mounts shared notes as a folder, and turns what programs
// write there into suggestions that people accept or reject.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/output"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/quietinit"
)

// The kernel gives a process's signals to its first thread. That one runs the
// goroutine of main alone, or it might be in a call that only an answer ends, such as a
// statfs of a mount whose server is suspended, and nobody would notice the signal.
func init() { runtime.LockOSThread() }

func main() {
	quietinit.Restore()
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		ending = append(ending, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, output.Stderr)
	stop()
	os.Exit(code)
}
