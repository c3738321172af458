//go:build linux

package harness

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

type Mount struct {
	Sandbox *Sandbox
	Vault   string
	Dir     string // the mountpoint
	minor   string // name of the connection in /sys/fs/fuse/connections
	Cmd     *exec.Cmd
	start   time.Time // of Cmd
	Log     *Log
	ended   chan struct{} // closed when the process has ended
	Err     error         // result of the process; read it after ended is closed
}

// Mount mounts vault at a new mountpoint, and waits until it is mounted. The end of the test unmounts it.
func (s *Sandbox) Mount(t *testing.T, vault string, flags ...string) *Mount {
	t.Helper()
	return s.MountAt(t, vault, s.Mkdir(t, "mnt-"+filepath.Base(vault)), flags...)
}

// MountAt is like Mount, with a given mountpoint.
func (s *Sandbox) MountAt(t *testing.T, vault, dir string, flags ...string) *Mount {
	t.Helper()
	RequireFUSE(t)
	m := &Mount{Sandbox: s, Vault: vault, Dir: dir, start: time.Now(), Log: NewLog(), ended: make(chan struct{})}
	// The process must outlive t.Context, which ends before the cleanups run.
	m.Cmd = s.Command(context.Background(), append(append([]string{"mount"}, flags...), vault, dir)...)
	m.Cmd.Stderr = m.Log
	if err := m.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		m.Err = m.Cmd.Wait()
		close(m.ended)
	}()
	t.Cleanup(func() { m.cleanup(t) })
	select {
	case <-m.Log.Seen("mounted " + dir):
		m.minor = connectionOf(dir)
	case <-m.ended:
		t.Fatalf("relayfs mount ended: %v\n%s", m.Err, m.Log)
	case <-time.After(StartTimeout):
		t.Fatalf("not mounted after %v\n%s", StartTimeout, m.Log)
	}
	return m
}

func (m *Mount) Path(name string) string {
	return filepath.Join(m.Dir, filepath.Base(m.Vault), name)
}

func (m *Mount) VaultPath(name string) string { return filepath.Join(m.Vault, name) }

// Stop ends the process as Ctrl-C does, and checks that it succeeds.
func (m *Mount) Stop(t *testing.T) {
	t.Helper()
	if err := m.Cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	m.WaitEnd(t)
	if m.Err != nil {
		t.Errorf("relayfs mount: %v\n%s", m.Err, m.Log)
	}
}

// Kill ends the process like a crash: the mountpoint stays as a dead mount. If the process hangs in a notification of
// the kernel, Kill aborts the connection as `relayfs unmount` does.
func (m *Mount) Kill(t *testing.T) {
	t.Helper()
	if err := m.Cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	select {
	case <-m.ended:
	case <-time.After(time.Second):
		m.abort(t)
	}
	m.WaitEnd(t)
}

func (m *Mount) Ended() <-chan struct{} { return m.ended }

func (m *Mount) WaitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-m.ended:
	case <-time.After(StartTimeout):
		m.quit()
		t.Errorf("relayfs mount (pid %d) does not end\n%s", m.Cmd.Process.Pid, m.Log)
		m.abort(t)
	}
}

func (m *Mount) cleanup(t *testing.T) {
	if t.Failed() {
		if time.Since(m.start) > StartTimeout {
			m.quit()
		}
		t.Logf("log of relayfs mount:\n%s", m.Log)
	}
	if strings.Contains(m.Log.String(), "WARNING: DATA RACE") {
		t.Errorf("data race in relayfs:\n%s", m.Log)
	}
	select {
	case <-m.ended:
	default:
		_ = m.Cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-m.ended:
		case <-time.After(StartTimeout):
			m.quit()
			t.Errorf("relayfs mount (pid %d) does not end on SIGTERM\n%s", m.Cmd.Process.Pid, m.Log)
			_ = m.Cmd.Process.Kill()
			m.abort(t)
		}
	}
	for IsMounted(m.Dir) {
		if err := syscall.Unmount(m.Dir, syscall.MNT_DETACH); err != nil {
			if out, err := exec.Command("fusermount3", "-uz", m.Dir).CombinedOutput(); err != nil {
				t.Errorf("unmount %s: %v: %s", m.Dir, err, out)
				return
			}
		}
	}
}

// quit makes a process that may hang write the stacks of its goroutines to the log, and end.
func (m *Mount) quit() {
	_ = m.Cmd.Process.Signal(syscall.SIGQUIT)
	select {
	case <-m.ended:
	case <-time.After(5 * time.Second):
	}
}

// abort ends the connection to the kernel if that is permitted. Nothing else ends a process that waits for the response
// to a request.
func (m *Mount) abort(t *testing.T) {
	const control = "/sys/fs/fuse/connections"
	dir := control
	if _, err := os.Stat(filepath.Join(dir, m.minor)); err != nil {
		dir = m.Sandbox.Mkdir(t, "fusectl")
		if err := syscall.Mount("none", dir, "fusectl", 0, ""); err != nil {
			t.Logf("%s is not there and cannot be mounted: %v", control, err)
			return
		}
		defer syscall.Unmount(dir, syscall.MNT_DETACH)
	}
	if err := os.WriteFile(filepath.Join(dir, m.minor, "abort"), []byte("1"), 0); err != nil {
		t.Logf("abort the connection of %s: %v", m.Dir, err)
	}
}

// connectionOf returns the minor device number of the mount at dir, as in proc_pid_mountinfo(5).
func connectionOf(dir string) string {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == dir {
			_, minor, _ := strings.Cut(fields[2], ":")
			return minor
		}
	}
	return ""
}

func IsMounted(dir string) bool { return connectionOf(dir) != "" }
