//go:build !packaging

// Command relayfs mounts a vault of notes as a folder and turns the changes of programs into suggestions, which the
// user accepts or rejects. This package has the commands: their flags, help texts, wiring and exit codes.
// internal/serving serves vaults. internal/api has the API of the serving process, and the client with which commands
// read and change notes.
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

// The kernel usually delivers a process's signals to its first thread, so this thread runs only main's goroutine. Any
// other goroutine could block the thread in a system call, such as a statfs of a mount whose server is suspended.
func init() { runtime.LockOSThread() }

func main() {
	quietinit.Restore()
	go returnMemory()
	ending := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores SIGHUP
		ending = append(ending, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ending...)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, cli.Stderr)
	stop()
	os.Exit(code)
}
