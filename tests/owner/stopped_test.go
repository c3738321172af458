package owner

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// suspend stops a process as Ctrl-Z does, until the test ends or continue is called.
func suspend(t *testing.T, p *os.Process) (resume func()) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume = func() { _ = p.Signal(syscall.SIGCONT) }
	t.Cleanup(resume)
	harness.WaitFor(t, "the process to stop", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		return strings.Contains(string(stat), ") T ")
	})
	return resume
}

// clientCommands are those that ask the owner of a vault.
func clientCommands(m *harness.Mount) [][]string {
	return [][]string{
		{"unmount", m.Dir}, {"mcp", m.Vault}, {"mcp"}, {"status"}, {"status", m.Vault}, {"doctor"}, {"doctor", m.Vault},
		{"suggestions", "list"}, {"suggestions", "show", m.Vault}, {"suggestions", "accept", "--all"}, {"suggestions", "reject", "--all"},
		{"suggestions", "undo"}, {"suggestions", "log"}, {"review"}, {"review", m.Vault},
		{"cat", "Vault/note.md"}, {"ls"}, {"grep", "tide"}, {"edit", "Vault/note.md", "--old", "six", "--new", "seven"},
	}
}

// Beside a mount that is suspended each command ends by itself, says which process
// is stopped, and how to continue it.
func TestCommandsBesideAStoppedOwner(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	harness.WriteFile(t, s.Path("xdg", "config_home", "relayfs", "config.toml"), fmt.Sprintf("sources = [%q]\n", vault))
	m := s.Mount(t, vault)
	resume := suspend(t, m.Cmd.Process)
	pid := m.Cmd.Process.Pid
	want := fmt.Sprintf("process %d is stopped (Ctrl-Z?): continue it with `kill -CONT %d`", pid, pid)
	var commands sync.WaitGroup
	for _, args := range clientCommands(m) {
		commands.Go(func() {
			if out := s.Run(t, args...); out.Code != 1 || !strings.Contains(out.Stdout+out.Stderr, want) {
				t.Errorf("%v: exit %d\n%s%s", args, out.Code, out.Stdout, out.Stderr)
			}
		})
	}
	commands.Wait()
	resume()
	harness.CheckText(t, "the note", harness.ReadFile(t, m.Path("note.md")), harness.TideTable)
	if out := s.Run(t, "unmount", m.Dir); out.Code != 0 {
		t.Errorf("unmount of the mount that was continued: %s", out.Stderr)
	}
}

// Ctrl-C and SIGTERM end each command at once, whatever it waits for.
func TestCommandsAreInterrupted(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	harness.WriteFile(t, s.Path("xdg", "config_home", "relayfs", "config.toml"), fmt.Sprintf("sources = [%q]\n", vault))
	m := s.Mount(t, vault)
	suspend(t, m.Cmd.Process)
	var commands sync.WaitGroup
	for i, args := range clientCommands(m) {
		signal := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[i%3]
		commands.Go(func() { checkInterrupted(t, s.Command(context.Background(), args...), signal) })
	}
	commands.Wait()
}

// checkInterrupted starts a command that waits, and ends it by a signal.
func checkInterrupted(t *testing.T, cmd *exec.Cmd, signal os.Signal) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	time.Sleep(500 * time.Millisecond) // it waits by now, or is still starting: either way it must end
	sent := time.Now()
	_ = cmd.Process.Signal(signal)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
		if took := time.Since(sent); took > need.Scaled(3*time.Second) {
			t.Errorf("%v ends %v after %v\n%s", cmd.Args[1:], took, signal, out.String())
		}
	case <-time.After(harness.StartTimeout):
		_ = cmd.Process.Kill()
		t.Errorf("%v ignores %v\n%s", cmd.Args[1:], signal, out.String())
	}
}

// A command that waits for its user is ended by a signal, too.
func TestWaitingForInputIsInterrupted(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"Note.md": strings.Repeat("a {--b--}{++c++} d\n", 12)})
	s.Mount(t, vault)
	edit := s.Command(context.Background(), "edit", "Vault/Note.md")
	in, err := edit.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	checkInterrupted(t, edit, syscall.SIGINT)

	x := harness.StartTerminal(t, s.Command(t.Context(), "suggestions", "accept", "--all", vault))
	x.Shows(t, "Accept 12 suggestions in 1 note? [y/N]")
	x.Press(t, "\x03")
	select {
	case <-x.Done:
	case <-time.After(harness.StartTimeout):
		t.Error("Ctrl-C at the question is ignored")
	}
}

// A client that is attached when its owner is suspended is told so, and goes on
// when that is continued.
func TestMCPBesideAStoppedOwner(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}))
	client := s.MCP(t, m.Vault)
	client.MustCall(t, "read", "file_path", "Vault/note.md")
	resume := suspend(t, m.Cmd.Process)
	want := fmt.Sprintf("process %d is stopped", m.Cmd.Process.Pid)
	for range 2 { // one that was on its way, and one that finds nobody
		if got := client.Call(t, "read", "file_path", "Vault/note.md"); !got.IsError || !strings.Contains(got.Text, want) {
			t.Errorf("read: %+v", got)
		}
	}
	resume()
	harness.Eventually(t, harness.StartTimeout, func() error {
		if got := client.Call(t, "read", "file_path", "Vault/note.md"); got.IsError {
			return fmt.Errorf("read: %s", got.Text)
		}
		return nil
	})
	client.MustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "six", "new_string", "seven")
}

// When the terminal is closed in which a mount or a server runs, that ends cleanly;
// under nohup it goes on.
func TestTheTerminalIsClosed(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	for name, flags := range map[string][]string{"mount": {"mount"}, "mcp": {"mcp", "--http", "127.0.0.1:0"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewSandbox(t)
			vault, mnt := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), s.Mkdir(t, "mnt")
			args, ready := append(slices.Clone(flags), vault), "serving MCP at"
			if name == "mount" {
				args, ready = append(args, mnt), "mounted "+mnt
				t.Cleanup(func() { _ = syscall.Unmount(mnt, syscall.MNT_DETACH) })
			}
			x := harness.StartTerminal(t, s.Command(context.Background(), args...))
			x.Shows(t, ready)
			if name == "mount" {
				harness.WriteFile(t, filepath.Join(mnt, "Vault", "note.md"), strings.Replace(harness.TideTable, "six", "seven", 1))
			}
			for range 2 { // the kernel sends one, and the shell another
				if err := x.Cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
			}
			x.Wait(t) // an exit code other than 0 fails
			if harness.IsMounted(mnt) {
				t.Error("still mounted")
			}
			if left, _ := filepath.Glob(s.Path("xdg", "state_home", "relayfs", "vaults", "*", "owner.json")); len(left) > 0 {
				t.Errorf("%q is left", left)
			}
			if raw := harness.ReadFile(t, filepath.Join(vault, "note.md")); name == "mount" && !strings.Contains(raw, "{++seven++}") {
				t.Errorf("vault's note: %q", raw)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		t.Parallel()
		s := harness.NewSandbox(t)
		mnt := s.Mkdir(t, "mnt")
		t.Cleanup(func() { _ = syscall.Unmount(mnt, syscall.MNT_DETACH) })
		cmd := s.Command(context.Background(), "mount", s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), mnt)
		terminal, err := pty.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		// No goroutine may read: what is being read is not closed.
		if line, err := bufio.NewReader(terminal).ReadString('\n'); !strings.HasPrefix(line, "mounted ") {
			t.Fatalf("%q, %v", line, err)
		}
		terminal.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if harness.IsMounted(mnt) {
			t.Error("still mounted")
		}
	})
	t.Run("nohup", func(t *testing.T) {
		t.Parallel()
		need.Programs(t, "nohup")
		s := harness.NewSandbox(t)
		mnt := s.Mkdir(t, "mnt")
		relayfs := s.Command(context.Background(), "mount", s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable}), mnt)
		cmd := exec.Command("nohup", relayfs.Args...)
		cmd.Env, cmd.Dir = relayfs.Env, relayfs.Dir
		log := harness.NewLog()
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-log.Seen("mounted " + mnt)
		_ = cmd.Process.Signal(syscall.SIGHUP)
		time.Sleep(500 * time.Millisecond)
		if got := harness.ReadFile(t, filepath.Join(mnt, "Vault", "note.md")); got != harness.TideTable {
			t.Errorf("the note: %q, want %q", got, harness.TideTable)
		}
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}
