// Command relayfs mounts shared notes as a folder, and turns what programs
// write there into suggestions that people accept or reject.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/relayfs/relayfs/cmd/relayfs/internal/quietinit"
)

func main() {
	quietinit.Restore()
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		ending = append(ending, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, stderr)
	stop()
	os.Exit(code)
}
