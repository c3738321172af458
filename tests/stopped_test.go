package tests

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

	"github.com/relayfs/relayfs/bridge/ycrdt/limittest"
)

// suspend stops a process as Ctrl-Z does, until the test ends or continue is called.
func suspend(t *testing.T, p *os.Process) (resume func()) {
	t.Helper()
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	resume = func() { _ = p.Signal(syscall.SIGCONT) }
	t.Cleanup(resume)
	waitFor(t, "the process to stop", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
		return strings.Contains(string(stat), ") T ")
	})
	return resume
}

// clientCommands are those that ask the owner of a vault.
func clientCommands(m *mount) [][]string {
	return [][]string{
		{"unmount", m.dir}, {"mcp", m.vault}, {"mcp"}, {"status"}, {"status", m.vault}, {"doctor"}, {"doctor", m.vault},
		{"suggestions", "list"}, {"suggestions", "show", m.vault}, {"suggestions", "accept", "--all"}, {"suggestions", "reject", "--all"},
		{"suggestions", "undo"}, {"suggestions", "log"}, {"review"}, {"review", m.vault},
		{"cat", "Vault/note.md"}, {"ls"}, {"grep", "tide"}, {"edit", "Vault/note.md", "--old", "six", "--new", "seven"},
	}
}

// Beside a mount that is suspended each command ends by itself, says which process
// is stopped, and how to continue it.
func TestCommandsBesideAStoppedOwner(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"note.md": saveBefore})
	writeFile(t, s.path("xdg", "config_home", "relayfs", "config.toml"), fmt.Sprintf("sources = [%q]\n", vault))
	m := s.mount(t, vault)
	resume := suspend(t, m.cmd.Process)
	pid := m.cmd.Process.Pid
	want := fmt.Sprintf("process %d is stopped (Ctrl-Z?): continue it with `kill -CONT %d`", pid, pid)
	var commands sync.WaitGroup
	for _, args := range clientCommands(m) {
		commands.Go(func() {
			if out := s.run(t, args...); out.code != 1 || !strings.Contains(out.stdout+out.stderr, want) {
				t.Errorf("%v: exit %d\n%s%s", args, out.code, out.stdout, out.stderr)
			}
		})
	}
	commands.Wait()
	resume()
	checkText(t, "the note", readFile(t, m.path("note.md")), saveBefore)
	if out := s.run(t, "unmount", m.dir); out.code != 0 {
		t.Errorf("unmount of the mount that was continued: %s", out.stderr)
	}
}

// Ctrl-C and SIGTERM end each command at once, whatever it waits for.
func TestCommandsAreInterrupted(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"note.md": saveBefore})
	writeFile(t, s.path("xdg", "config_home", "relayfs", "config.toml"), fmt.Sprintf("sources = [%q]\n", vault))
	m := s.mount(t, vault)
	suspend(t, m.cmd.Process)
	var commands sync.WaitGroup
	for i, args := range clientCommands(m) {
		signal := []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}[i%3]
		commands.Go(func() { checkInterrupted(t, s.command(context.Background(), args...), signal) })
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
		if took := time.Since(sent); took > limittest.Scaled(3*time.Second) {
			t.Errorf("%v ends %v after %v\n%s", cmd.Args[1:], took, signal, out.String())
		}
	case <-time.After(startTimeout):
		_ = cmd.Process.Kill()
		t.Errorf("%v ignores %v\n%s", cmd.Args[1:], signal, out.String())
	}
}

// A command that waits for its user is ended by a signal, too.
func TestWaitingForInputIsInterrupted(t *testing.T) {
	s := newSandbox(t)
	vault := s.vault(t, "Vault", map[string]string{"Note.md": strings.Repeat("a {--b--}{++c++} d\n", 12)})
	s.mount(t, vault)
	edit := s.command(context.Background(), "edit", "Vault/Note.md")
	in, err := edit.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	checkInterrupted(t, edit, syscall.SIGINT)

	x := startTerminal(t, s.command(t.Context(), "suggestions", "accept", "--all", vault))
	x.shows(t, "Accept 12 suggestions in 1 note? [y/N]")
	x.press(t, "\x03")
	select {
	case <-x.done:
	case <-time.After(startTimeout):
		t.Error("Ctrl-C at the question is ignored")
	}
}

// A client that is attached when its owner is suspended is told so, and goes on
// when that is continued.
func TestMCPBesideAStoppedOwner(t *testing.T) {
	s := newSandbox(t)
	m := s.mount(t, s.vault(t, "Vault", map[string]string{"note.md": saveBefore}))
	client := s.mcp(t, m.vault)
	client.mustCall(t, "read", "file_path", "Vault/note.md")
	resume := suspend(t, m.cmd.Process)
	want := fmt.Sprintf("process %d is stopped", m.cmd.Process.Pid)
	for range 2 { // one that was on its way, and one that finds nobody
		if got := client.call(t, "read", "file_path", "Vault/note.md"); !got.isError || !strings.Contains(got.text, want) {
			t.Errorf("read: %+v", got)
		}
	}
	resume()
	eventually(t, startTimeout, func() error {
		if got := client.call(t, "read", "file_path", "Vault/note.md"); got.isError {
			return fmt.Errorf("read: %s", got.text)
		}
		return nil
	})
	client.mustCall(t, "edit", "file_path", "Vault/note.md", "old_string", "six", "new_string", "seven")
}

// When the terminal is closed in which a mount or a server runs, that ends cleanly;
// under nohup it goes on.
func TestTheTerminalIsClosed(t *testing.T) {
	requireFUSE(t)
	for name, flags := range map[string][]string{"mount": {"mount"}, "serve": {"serve"}} {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			vault, mnt := s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), s.mkdir(t, "mnt")
			args, ready := append(slices.Clone(flags), vault), "serving notes of"
			if name == "mount" {
				args, ready = append(args, mnt), "mounted "+mnt
				t.Cleanup(func() { _ = syscall.Unmount(mnt, syscall.MNT_DETACH) })
			}
			x := startTerminal(t, s.command(context.Background(), args...))
			x.shows(t, ready)
			if name == "mount" {
				writeFile(t, filepath.Join(mnt, "Vault", "note.md"), strings.Replace(saveBefore, "six", "seven", 1))
			}
			for range 2 { // the kernel sends one, and the shell another
				if err := x.cmd.Process.Signal(syscall.SIGHUP); err != nil {
					t.Fatal(err)
				}
			}
			x.wait(t) // an exit code other than 0 fails
			if isMounted(mnt) {
				t.Error("still mounted")
			}
			if left, _ := filepath.Glob(s.path("xdg", "state_home", "relayfs", "vaults", "*", "owner.json")); len(left) > 0 {
				t.Errorf("%q is left", left)
			}
			if raw := readFile(t, filepath.Join(vault, "note.md")); name == "mount" && !strings.Contains(raw, "{++seven++}") {
				t.Errorf("vault's note: %q", raw)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		s := newSandbox(t)
		mnt := s.mkdir(t, "mnt")
		t.Cleanup(func() { _ = syscall.Unmount(mnt, syscall.MNT_DETACH) })
		cmd := s.command(context.Background(), "mount", s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), mnt)
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
		if isMounted(mnt) {
			t.Error("still mounted")
		}
	})
	t.Run("nohup", func(t *testing.T) {
		requireTools(t, "nohup")
		s := newSandbox(t)
		mnt := s.mkdir(t, "mnt")
		relayfs := s.command(context.Background(), "mount", s.vault(t, "Vault", map[string]string{"note.md": saveBefore}), mnt)
		cmd := exec.Command("nohup", relayfs.Args...)
		cmd.Env, cmd.Dir = relayfs.Env, relayfs.Dir
		log := newWatchedLog()
		cmd.Stderr = log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-log.seen("mounted " + mnt)
		_ = cmd.Process.Signal(syscall.SIGHUP)
		time.Sleep(500 * time.Millisecond)
		if got := readFile(t, filepath.Join(mnt, "Vault", "note.md")); got != saveBefore {
			t.Errorf("the note: %q", got)
		}
		_ = cmd.Process.Signal(syscall.SIGINT)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
}
