package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The second owner of a vault is refused with a sentence that names the first.
func TestSecondOwnerIsRefused(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	second := s.run(t, "mount", m.vault, s.mkdir(t, "other"))
	if second.code != 1 {
		t.Errorf("exit code %d, want 1", second.code)
	}
	if !strings.HasPrefix(second.stderr, "relayfs: error: ") || !strings.Contains(second.stderr, "relayfs: hint: ") {
		t.Errorf("no error and hint in %q", second.stderr)
	}
	pid := fmt.Sprint(m.cmd.Process.Pid)
	if !strings.Contains(second.stderr, pid) || !strings.Contains(second.stderr, m.dir) {
		t.Errorf("%q names neither pid %s nor mountpoint %s", second.stderr, pid, m.dir)
	}
	// The same vault by another name is the same vault.
	link := s.path("Link")
	if err := os.Symlink(m.vault, link); err != nil {
		t.Fatal(err)
	}
	if again := s.run(t, "mount", link, s.path("other")); again.code != 1 || !strings.Contains(again.stderr, pid) {
		t.Errorf("through a symbolic link: exit %d, %q", again.code, again.stderr)
	}
	writeFile(t, m.path("note.md"), strings.Replace(saveBefore, "six", "seven", 1))
	m.stop(t)

	// Its end frees the vault.
	s.mountAt(t, m.vault, s.path("other"))
}

// The processes that a mount starts hold neither its locks nor its socket: they may
// outlive it for a moment.
func TestChildrenHoldNoLock(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	children := make(map[string]string) // pid to program
	waitFor(t, "the mount's two processes", func() bool {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", m.cmd.Process.Pid))
		if err != nil || len(lists) == 0 {
			t.Skip("the kernel does not list a process's children")
		}
		for _, list := range lists {
			pids, _ := os.ReadFile(list) // the thread may have ended
			for _, pid := range strings.Fields(string(pids)) {
				args, _ := os.ReadFile("/proc/" + pid + "/cmdline")
				if _, program, _ := strings.Cut(strings.TrimRight(string(args), "\x00"), "\x00"); strings.HasPrefix(program, "mount-") {
					children[pid] = program
				}
			}
		}
		return len(children) == 2
	})
	for pid, program := range children {
		held, err := filepath.Glob("/proc/" + pid + "/fd/*")
		if err != nil || len(held) == 0 {
			t.Errorf("%s has no files: %v", program, err)
		}
		for _, fd := range held {
			file, _ := os.Readlink(fd)
			if strings.HasPrefix(file, s.dir) || strings.HasPrefix(file, "socket:") {
				t.Errorf("%s holds %s", program, file)
			}
		}
	}
}

// MCP attaches to the mount's process: both show the same documents at once.
func TestMCPAttachesToTheOwner(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	client := s.mcp(t, m.vault)
	after := strings.Replace(saveBefore, "six", "seven", 1)
	writeFile(t, m.path("note.md"), after)
	if got := client.mustCall(t, "read", "file_path", "Vault/note.md"); !strings.Contains(got, "at seven") || !strings.Contains(got, "[Pending suggestions]") {
		t.Errorf("MCP does not show the mount's write:\n%s", got)
	}
	// A path under the mountpoint is a name of the same note.
	client.mustCall(t, "edit", "file_path", m.path("note.md"), "old_string", "quiet", "new_string", "loud")
	m.checkSuggested(t, "note.md", saveBefore, strings.Replace(after, "quiet", "loud", 1))

	// What one session has read, another has not.
	other := s.mcp(t, m.vault)
	if refused := other.call(t, "edit", "file_path", "Vault/note.md", "old_string", "loud", "new_string", "still"); !refused.isError {
		t.Errorf("an edit by a session that read nothing: %+v", refused)
	}
}

// SIGTERM with a program still working inside the mount: what was closed is
// kept, the process ends, nothing stays mounted.
func TestShutdownWhileBusy(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			s := newSandbox(t)
			m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
			after := strings.Replace(saveBefore, "six", "seven", 1)
			writeFile(t, m.path("note.md"), after)
			open, err := os.Open(m.path("note.md")) // keeps the mount busy
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			if err := m.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			m.waitEnd(t)
			if m.err != nil {
				t.Errorf("relayfs mount: %v\n%s", m.err, m.log)
			}
			if isMounted(m.dir) {
				t.Error("still mounted")
			}
			if raw := readFile(t, m.vaultPath("note.md")); !strings.Contains(raw, "{++seven++}") {
				t.Errorf("vault's note after the end: %q", raw)
			}
		})
	}
}

func TestUnmountCommand(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	if out := s.run(t, "unmount", m.dir); out.code != 0 {
		t.Fatalf("exit %d: %s", out.code, out.stderr)
	}
	m.waitEnd(t)
	if m.err != nil {
		t.Errorf("relayfs mount: %v\n%s", m.err, m.log)
	}
	if isMounted(m.dir) {
		t.Error("still mounted")
	}
	if out := s.run(t, "unmount", m.dir); out.code != 1 || !strings.Contains(out.stderr, m.dir) {
		t.Errorf("second unmount: exit %d, %q", out.code, out.stderr)
	}
}
