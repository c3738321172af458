package owner

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// The second owner of a vault is refused with a sentence that names the first.
func TestSecondOwnerIsRefused(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	second := s.Run(t, "mount", m.Vault, s.Mkdir(t, "other"))
	if second.Code != 1 {
		t.Errorf("exit code %d, want 1", second.Code)
	}
	if !strings.HasPrefix(second.Stderr, "relayfs: error: ") || !strings.Contains(second.Stderr, "relayfs: hint: ") {
		t.Errorf("no error and hint in %q", second.Stderr)
	}
	pid := fmt.Sprint(m.Cmd.Process.Pid)
	if !strings.Contains(second.Stderr, pid) || !strings.Contains(second.Stderr, m.Dir) {
		t.Errorf("%q names neither pid %s nor mountpoint %s", second.Stderr, pid, m.Dir)
	}
	// The same vault by another name is the same vault.
	link := s.Path("Link")
	if err := os.Symlink(m.Vault, link); err != nil {
		t.Fatal(err)
	}
	if again := s.Run(t, "mount", link, s.Path("other")); again.Code != 1 || !strings.Contains(again.Stderr, pid) {
		t.Errorf("through a symbolic link: exit %d, %q", again.Code, again.Stderr)
	}
	harness.WriteFile(t, m.Path("note.md"), strings.Replace(harness.TideTable, "six", "seven", 1))
	m.Stop(t)

	// Its end frees the vault.
	s.MountAt(t, m.Vault, s.Path("other"))
}

// The processes that a mount starts hold neither its locks nor its socket: they may
// outlive it for a moment.
func TestChildrenHoldNoLock(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	children := make(map[string]string) // pid to program
	harness.WaitFor(t, "the mount's process that pokes", func() bool {
		lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", m.Cmd.Process.Pid))
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
		return len(children) == 1
	})
	for pid, program := range children {
		held, err := filepath.Glob("/proc/" + pid + "/fd/*")
		if err != nil || len(held) == 0 {
			t.Errorf("%s has no files: %v", program, err)
		}
		for _, fd := range held {
			file, _ := os.Readlink(fd)
			if strings.HasPrefix(file, s.Dir) || strings.HasPrefix(file, "socket:") {
				t.Errorf("%s holds %s", program, file)
			}
		}
	}
}

// MCP attaches to the mount's process: both show the same documents at once.
func TestMCPAttachesToTheOwner(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	client := s.MCP(t, m.Vault)
	after := strings.Replace(harness.TideTable, "six", "seven", 1)
	harness.WriteFile(t, m.Path("note.md"), after)
	if got := client.MustCall(t, "read", "file_path", "Vault/note.md"); !strings.Contains(got, "at seven") || !strings.Contains(got, "[Pending suggestions]") {
		t.Errorf("MCP does not show the mount's write:\n%s", got)
	}
	// A path under the mountpoint is a name of the same note.
	client.MustCall(t, "edit", "file_path", m.Path("note.md"), "old_string", "quiet", "new_string", "loud")
	m.CheckSuggested(t, "note.md", harness.TideTable, strings.Replace(after, "quiet", "loud", 1))

	// What one session has read, another has not.
	other := s.MCP(t, m.Vault)
	if refused := other.Call(t, "edit", "file_path", "Vault/note.md", "old_string", "loud", "new_string", "still"); !refused.IsError {
		t.Errorf("an edit by a session that read nothing: %+v", refused)
	}
}

// SIGTERM with a program still working inside the mount: what was closed is
// kept, the process ends, nothing stays mounted.
func TestShutdownWhileBusy(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			s := harness.NewSandbox(t)
			m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
			after := strings.Replace(harness.TideTable, "six", "seven", 1)
			harness.WriteFile(t, m.Path("note.md"), after)
			open, err := os.Open(m.Path("note.md")) // keeps the mount busy
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			if err := m.Cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			m.WaitEnd(t)
			if m.Err != nil {
				t.Errorf("relayfs mount: %v\n%s", m.Err, m.Log)
			}
			if harness.IsMounted(m.Dir) {
				t.Error("still mounted")
			}
			if raw := harness.ReadFile(t, m.VaultPath("note.md")); !strings.Contains(raw, "{++seven++}") {
				t.Errorf("vault's note after the end: %q", raw)
			}
		})
	}
}

func TestUnmountCommand(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
		t.Fatalf("exit %d: %s", out.Code, out.Stderr)
	}
	m.WaitEnd(t)
	if m.Err != nil {
		t.Errorf("relayfs mount: %v\n%s", m.Err, m.Log)
	}
	if harness.IsMounted(m.Dir) {
		t.Error("still mounted")
	}
	if out := s.Run(t, "unmount", m.Dir); out.Code != 1 || !strings.Contains(out.Stderr, m.Dir) {
		t.Errorf("second unmount: exit %d, %q", out.Code, out.Stderr)
	}
}

// Unmount finds the process by the mount, whatever its state folder and the folder of its socket: the vault is free for
// the next mount when unmount returns.
func TestUnmountWithAnotherState(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	other := harness.NewSandbox(t)
	other.Env = append(other.Env, "TMPDIR="+other.Mkdir(t, "tmp"), "RELAYFS_STATE="+s.Path("nowhere"))
	for i := range 5 {
		m := s.MountAt(t, vault, s.Mkdir(t, fmt.Sprint("mnt", i)), "RELAYFS_STATE="+s.Path("state"))
		harness.WriteFile(t, m.Path("note.md"), fmt.Sprintf("%s%d\n", harness.TideTable, i))
		if out := other.Run(t, "unmount", m.Dir); out.Code != 0 || out.Stderr != "" {
			t.Fatalf("exit %d: %s", out.Code, out.Stderr)
		}
	}
}

// The process of a mount may have another ID here, as that of a container does. Unmount does not wait for the process
// that has the ID here, and says that it could not wait.
func TestUnmountOfAnotherPIDNamespace(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	need.Programs(t, "unshare")
	s := harness.NewSandbox(t)
	dir := s.Mkdir(t, "mnt")
	relayfs := s.Command(t.Context(), "mount", s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), dir)
	cmd := exec.Command("unshare", append([]string{"--pid", "--fork", "--kill-child"}, relayfs.Args...)...)
	log := harness.NewLog()
	cmd.Env, cmd.Dir, cmd.Stderr = relayfs.Env, relayfs.Dir, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-log.Seen("mounted " + dir):
	case err := <-ended:
		need.Missing(t, "no namespaces: %v: %s", err, log)
	}
	out := s.Run(t, "unmount", dir)
	if out.Code != 0 || !strings.Contains(out.Stderr, "did not find its process") {
		t.Errorf("exit %d: %s", out.Code, out.Stderr)
		_ = syscall.Unmount(dir, syscall.MNT_DETACH)
	}
	if err := <-ended; err != nil {
		t.Errorf("relayfs mount: %v\n%s", err, log)
	}
}

// Commands that run at the same time, and while a mount starts, all succeed.
func TestCommandsAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"a.md": "{++a++}\n"})
	mounted := make(chan struct{})
	var commands sync.WaitGroup
	defer commands.Wait()
	defer close(mounted)
	for range 2 {
		commands.Go(func() {
			for rest := 5; rest > 0; {
				select {
				case <-mounted:
					rest--
				default:
				}
				if out := s.Run(t, "suggestions", "list", vault); out.Code != 0 {
					t.Errorf("suggestions list: %+v", out)
				}
			}
		})
	}
	time.Sleep(200 * time.Millisecond)
	s.Mount(t, vault)
}
