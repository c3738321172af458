package fusefs

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/bridge/model"
)

// inotify reports system calls on the mount, but not changes made elsewhere, because a FUSE server cannot raise an
// event. So a second process makes two small system calls through the mount for each path that others have changed: it
// opens the note for reading and sets the note's modification time to the current value. Watchers see that as OPEN,
// MODIFY and CLOSE_NOWRITE. It is a separate process because a thread that makes a call on its own process's mount can
// wait for an answer that the same thread must give.

const (
	// notifyDelay is the time for which changes are collected, because editors and sync tools make several changes at
	// once.
	notifyDelay = 100 * time.Millisecond
	// maxNotified is the maximum number of paths in one batch that get events. If there are more, only the folders of
	// these paths get events.
	maxNotified = 500
)

// watchNotifier wakes watchers. Without a command it does nothing.
type watchNotifier struct {
	command []string
	log     *slog.Logger
	flush   func(context.Context)         // returns when the kernel has got all notifications that are queued now
	former  func(model.Path) []model.Path // see formerInodes.at

	pid  atomic.Int64 // process ID; 0 while there is no process
	wake model.Signal

	mu      sync.Mutex // guards the fields below
	pending map[model.Path]bool
}

func newWatchNotifier(command []string, log *slog.Logger, flush func(context.Context), former func(model.Path) []model.Path) *watchNotifier {
	return &watchNotifier{
		command: command, log: log, flush: flush, former: former,
		wake: model.NewSignal(), pending: make(map[model.Path]bool),
	}
}

// add makes run wake the programs that watch p or its folder.
func (k *watchNotifier) add(p model.Path) {
	if len(k.command) == 0 {
		return
	}
	k.mu.Lock()
	k.pending[p] = true
	k.mu.Unlock()
	k.wake.Set()
}

func (k *watchNotifier) take(dir string) string {
	k.mu.Lock()
	pending := k.pending
	k.pending = make(map[model.Path]bool)
	k.mu.Unlock()
	if len(pending) > maxNotified {
		dirs := make(map[model.Path]bool)
		for p := range pending {
			dirs[p.Dir()] = true
		}
		pending = dirs
	}
	var out strings.Builder
	for _, p := range slices.Sorted(maps.Keys(pending)) {
		for _, at := range append([]model.Path{p}, k.former(p)...) {
			out.WriteString(filepath.Join(dir, string(at)))
			out.WriteByte(0)
		}
	}
	return out.String()
}

// run wakes watchers of the mount at dir until ctx or the process ends. It starts the process at once, not at the first
// change, because a starting process briefly holds all files that this process has open, including the lock of the
// vault.
func (k *watchNotifier) run(ctx context.Context, dir string) {
	if len(k.command) == 0 {
		return
	}
	cmd, stdin, err := k.start(ctx)
	if err != nil {
		k.log.Info("programs that watch the mount are not woken", model.LogErr, err)
		return
	}
	defer func() {
		stdin.Close()
		_ = cmd.Process.Kill() // the process may be waiting for the mount
		_ = cmd.Wait()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(notifyDelay):
		}
		k.flush(ctx)
		if _, err := io.WriteString(stdin, k.take(dir)); err != nil {
			return // the process has ended or is ending
		}
	}
}

func (k *watchNotifier) start(ctx context.Context) (*exec.Cmd, io.WriteCloser, error) {
	cmd := exec.CommandContext(ctx, k.command[0], k.command[1:]...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // so that Ctrl-C does not end it
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	k.pid.Store(int64(cmd.Process.Pid))
	return cmd, stdin, nil
}

func (k *watchNotifier) process() int { return int(k.pid.Load()) }

// RunWatchNotifier runs in the process of Options.WatchNotifier. It reads paths from its input, each followed by a NUL,
// and wakes programs that watch these paths. It returns nil at the end of the input.
func RunWatchNotifier(in io.Reader) error {
	paths := bufio.NewReader(in)
	for {
		path, err := paths.ReadString(0)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		raiseEvents(strings.TrimSuffix(path, "\x00"))
	}
}

// raiseEvents raises events at path, or at the folder of path if path does not exist or cannot be read.
func raiseEvents(path string) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if err != nil {
		path = filepath.Dir(path)
	} else {
		defer f.Close()
	}
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return // there are no watchers to wake
	}
	same := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, st.Mtim}
	_ = unix.UtimesNanoAt(unix.AT_FDCWD, path, same, unix.AT_SYMLINK_NOFOLLOW) // fails on a read-only mount, where watchers still see OPEN and CLOSE_NOWRITE
}
