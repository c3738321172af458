package fusefs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// A process that is killed while one of its notifications waits for a folder
// leaves requests behind that nobody has read yet, and the folder may be held by
// one of those. The guard is a second process that outlives it for a moment, and
// answers them: see notifier_linux.go for the other half.

// guardReadSize holds any request: the kernel asks for room for the longest
// write that go-fuse agrees to, and its header.
const guardReadSize = 1<<20 + 4096

// guard is the running guard of a mount.
type guard struct {
	cmd   *exec.Cmd
	alive *os.File // closed by the end of this process, whatever its reason
}

func startGuard(command []string, device *os.File) (*guard, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("pidfd: %w", err)
	}
	self := os.NewFile(uintptr(pidfd), "pidfd")
	defer self.Close()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.ExtraFiles = []*os.File{device, r, self}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is not for it
	if err := cmd.Start(); err != nil {
		w.Close()
		return nil, err
	}
	return &guard{cmd, w}, nil
}

// stop ends the guard. The mount is gone by then.
func (g *guard) stop() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	g.alive.Close()
}

// RunGuard is the guard: the process that Options.Guard names calls it and ends
// when it returns. Mount passes it three files: as descriptor 3 a /dev/fuse of
// the mount, as 4 a pipe that ends when the other threads of the process have
// closed theirs, as 5 a pidfd of the process.
func RunGuard() error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	const device, pidfd = 3, 5
	alive := os.NewFile(4, "alive")
	if alive == nil {
		return errors.New("guard was not started by a mount: run `relayfs mount`")
	}
	if _, err := io.Copy(io.Discard, alive); err != nil {
		return fmt.Errorf("guard was not started by a mount: run `relayfs mount`: %w", err)
	}
	return refuseAll(device, pidfd)
}

// refuseAll answers every request on fd with ENOTCONN until the last thread of
// the process has ended: nobody notifies then. As nobody has the device open any
// more when the guard ends, the kernel ends the connection.
func refuseAll(fd, pidfd int) error {
	request := make([]byte, guardReadSize)
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(pidfd), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil, fds[1].Revents != 0:
			return err
		}
		n, err := unix.Read(fd, request)
		switch {
		case errors.Is(err, unix.ENODEV):
			return nil // unmounted
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN), errors.Is(err, unix.ENOENT):
			continue // whoever asked has given up
		case err != nil:
			return err
		}
		if answer := refusal(request[:n]); answer != nil {
			_, _ = unix.Write(fd, answer) // ENOENT: whoever asked has given up
		}
	}
}

// Requests that get no answer: opcodes of linux/fuse.h.
const (
	opForget      = 2
	opInterrupt   = 36
	opBatchForget = 42
)

// refusal answers a request, a fuse_in_header and what follows, with ENOTCONN;
// nil if it gets no answer.
func refusal(request []byte) []byte {
	switch binary.NativeEndian.Uint32(request[4:]) {
	case opForget, opInterrupt, opBatchForget:
		return nil
	}
	answer := binary.NativeEndian.AppendUint32(nil, outHeaderSize)
	code := -int32(unix.ENOTCONN)
	answer = binary.NativeEndian.AppendUint32(answer, uint32(code))
	return append(answer, request[8:16]...) // its number
}
