package tests

import (
	"bytes"
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

// mount is a running `relayfs mount`.
type mount struct {
	s     *sandbox
	vault string
	dir   string // the mountpoint
	minor string // the connection's name in /sys/fs/fuse/connections
	cmd   *exec.Cmd
	log   *watchedLog
	ended chan struct{} // closed when the process has ended
	err   error         // of its end; read after ended
}

// mount mounts vault at a mountpoint of its own and waits for the line that
// says so. The mount ends with the test at the latest.
func (s *sandbox) mount(t *testing.T, vault string, flags ...string) *mount {
	t.Helper()
	return s.mountAt(t, vault, s.mkdir(t, "mnt-"+filepath.Base(vault)), flags...)
}

func (s *sandbox) mountAt(t *testing.T, vault, dir string, flags ...string) *mount {
	t.Helper()
	requireFUSE(t)
	m := &mount{s: s, vault: vault, dir: dir, log: newWatchedLog(), ended: make(chan struct{})}
	// The process outlives t.Context, which ends before the cleanups run.
	m.cmd = s.command(context.Background(), append(append([]string{"mount"}, flags...), vault, dir)...)
	m.cmd.Stderr = m.log
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		m.err = m.cmd.Wait()
		close(m.ended)
	}()
	t.Cleanup(func() { m.cleanup(t) })
	select {
	case <-m.log.seen("mounted " + dir):
		m.minor = connectionOf(dir)
	case <-m.ended:
		t.Fatalf("relayfs mount ended: %v\n%s", m.err, m.log)
	case <-time.After(startTimeout):
		t.Fatalf("not mounted after %v\n%s", startTimeout, m.log)
	}
	return m
}

// path returns where a note, named by its path in the vault, is on the mount.
func (m *mount) path(name string) string {
	return filepath.Join(m.dir, filepath.Base(m.vault), name)
}

func (m *mount) vaultPath(name string) string { return filepath.Join(m.vault, name) }

// stop ends the process as Ctrl-C does and expects a clean end.
func (m *mount) stop(t *testing.T) {
	t.Helper()
	if err := m.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	m.waitEnd(t)
	if m.err != nil {
		t.Errorf("relayfs mount: %v\n%s", m.err, m.log)
	}
}

// kill ends the process as a crash does; the mountpoint stays as a dead mount.
func (m *mount) kill(t *testing.T) {
	t.Helper()
	if err := m.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	m.waitEnd(t)
}

func (m *mount) waitEnd(t *testing.T) {
	t.Helper()
	select {
	case <-m.ended:
	case <-time.After(startTimeout):
		t.Errorf("relayfs mount (pid %d) does not end\n%s", m.cmd.Process.Pid, m.log)
		m.abort(t)
	}
}

// cleanup leaves nothing mounted and nothing running, whatever went wrong.
func (m *mount) cleanup(t *testing.T) {
	if t.Failed() {
		t.Logf("log of relayfs mount:\n%s", m.log)
	}
	if strings.Contains(m.log.String(), "WARNING: DATA RACE") {
		t.Errorf("data race in relayfs:\n%s", m.log)
	}
	select {
	case <-m.ended:
	default:
		_ = m.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-m.ended:
		case <-time.After(startTimeout):
			t.Errorf("relayfs mount (pid %d) does not end on SIGTERM\n%s", m.cmd.Process.Pid, m.log)
			_ = m.cmd.Process.Kill()
			m.abort(t)
		}
	}
	for isMounted(m.dir) {
		if err := syscall.Unmount(m.dir, syscall.MNT_DETACH); err != nil {
			if out, err := exec.Command("fusermount3", "-uz", m.dir).CombinedOutput(); err != nil {
				t.Errorf("unmount %s: %v: %s", m.dir, err, out)
				return
			}
		}
	}
}

// abort ends the connection to the kernel, where that is allowed. A process that
// waits for a request which nobody answers cannot be ended otherwise, by anyone.
func (m *mount) abort(t *testing.T) {
	const control = "/sys/fs/fuse/connections"
	dir := control
	if _, err := os.Stat(filepath.Join(dir, m.minor)); err != nil {
		dir = m.s.mkdir(t, "fusectl")
		if err := syscall.Mount("none", dir, "fusectl", 0, ""); err != nil {
			t.Logf("%s is not there and cannot be mounted: %v", control, err)
			return
		}
		defer syscall.Unmount(dir, syscall.MNT_DETACH)
	}
	if err := os.WriteFile(filepath.Join(dir, m.minor, "abort"), []byte("1"), 0); err != nil {
		t.Logf("abort the connection of %s: %v", m.dir, err)
	}
}

// connectionOf returns the minor device number of the mount at dir, from
// mountinfo, see proc_pid_mountinfo(5).
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

func isMounted(dir string) bool {
	mounts, err := os.ReadFile("/proc/self/mounts")
	return err == nil && bytes.Contains(mounts, []byte(" "+dir+" "))
}
