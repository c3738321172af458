package process

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// readyEnv tells a daemon that its descriptor readyFD is the pipe to the parent process.
const (
	readyEnv = "RELAYFS_READY_FD"
	readyFD  = 3
)

// readyTimeout is the maximum time for the start of a daemon. It is long because listing a large vault on a slow disk
// takes a long time.
const readyTimeout = 2 * time.Minute

// Start runs this command line again as a daemon, without --daemon, and returns when the daemon is ready or has failed.
func Start(ctx context.Context, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool {
		return a == "--daemon" || strings.HasPrefix(a, "--daemon=")
	})
	cmd := exec.Command(self, args...)
	cmd.Stderr = w
	cmd.ExtraFiles = []*os.File{w}
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", readyEnv, readyFD))
	cmd.SysProcAttr = DetachedAttr()
	cmd.Dir = "/"
	if wd, err := os.Getwd(); err == nil {
		cmd.Dir = wd // because the command line may contain relative paths
	}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return err
	}
	return awaitReady(ctx, stderr, cmd, r)
}

func awaitReady(ctx context.Context, stderr io.Writer, cmd *exec.Cmd, r *os.File) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.SetReadDeadline(time.Now()) })
	defer stop()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fmt.Fprintln(stderr, lines.Text())
		if strings.HasPrefix(lines.Text(), Mounted) {
			return cmd.Process.Release()
		}
	}
	if ctx.Err() != nil {
		cmd.Process.Signal(syscall.SIGTERM)
		return fmt.Errorf("relayfs did not finish starting in the background: %w", ctx.Err())
	}
	cmd.Wait()
	return &ChildError{cmd.ProcessState.ExitCode()}
}

type ChildError struct{ Code int }

func (e *ChildError) Error() string { return "relayfs ended in the background" }

// Mounted is the beginning of the line that a process prints when it is ready.
const Mounted = "mounted "

func InBackground() bool { return os.Getenv(readyEnv) != "" }

// Ready prints line, which begins with Mounted, and notifies systemd. A daemon first detaches from its terminal and logs
// to logFile, which open must open. Its parent ends at the line, and then a message to the parent's pipe would end the
// daemon.
func Ready(stderr io.Writer, line, logFile string, open func() (*os.File, error)) {
	notifyReady()
	if !InBackground() {
		fmt.Fprintln(stderr, line)
		return
	}
	redirect(func() (*os.File, error) { return os.OpenFile(os.DevNull, os.O_RDWR, 0) }, 0, 1, 2)
	redirect(open, 2)
	parent := os.NewFile(readyFD, "parent")
	fmt.Fprintf(parent, "logging to %s\n%s\n", logFile, line)
	parent.Close()
}

// redirect makes the descriptors fds duplicates of a file. If the file cannot be opened, the descriptors stay
// unchanged.
func redirect(open func() (*os.File, error), fds ...int) {
	f, err := open()
	if err != nil {
		return
	}
	defer f.Close()
	for _, fd := range fds {
		Duplicate(int(f.Fd()), fd)
	}
}

// notifyReady reports the start of a unit of Type=notify to systemd by the protocol of sd_notify(3).
func notifyReady() {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return
	}
	// Both Go and systemd interpret a leading @ as the abstract namespace.
	conn, err := net.Dial("unixgram", name)
	if err != nil {
		return // systemd times out and shows the log
	}
	defer conn.Close()
	conn.Write([]byte("READY=1"))
}
