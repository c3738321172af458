package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// newcomer is a sandbox whose user has vaults in Obsidian, and no configuration.
type newcomer struct {
	*harness.Sandbox
	config string // the file that init writes
	calls  string // what systemctl was told
}

func newNewcomer(t *testing.T, vaults ...string) *newcomer {
	t.Helper()
	s := harness.NewSandbox(t)
	n := &newcomer{s, s.Path("xdg", "config_home", "relayfs", "config.toml"), s.Path("calls")}
	var listed []string
	for _, v := range vaults {
		listed = append(listed, `"`+v+`":{"path":"`+s.Vault(t, v, map[string]string{"note.md": "of " + v + "\n"})+`"}`)
	}
	harness.WriteFile(t, filepath.Join(s.Mkdir(t, "xdg", "config_home", "obsidian"), "obsidian.json"), `{"vaults":{`+strings.Join(listed, ",")+`}}`)
	harness.WriteProgram(t, filepath.Join(s.Mkdir(t, "bin"), "systemctl"), "#!/bin/sh\necho \"$*\" >>"+n.calls+"\n")
	s.Env = append(s.Env, "PATH="+s.Path("bin")+":"+os.Getenv("PATH"))
	return n
}

// terminal starts relayfs on a terminal.
func (n *newcomer) terminal(t *testing.T, args ...string) *harness.Terminal {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), n.Binary, args...)
	cmd.Env, cmd.Dir = n.Env, n.Dir
	return harness.StartTerminal(t, cmd)
}

// checkNothing expects that init has left nothing.
func (n *newcomer) checkNothing(t *testing.T) {
	t.Helper()
	for _, path := range []string{filepath.Dir(n.config), n.calls, n.Path("home", "relayfs")} {
		if _, err := os.Lstat(path); err == nil {
			t.Errorf("%s was made", path)
		}
	}
}

// In a terminal init asks for what is not given, again where an answer will not do, and mounts at every login if told so. Vaults
// of one name are told apart; what it writes mounts.
func TestInitAsks(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	n := newNewcomer(t, "work/Notes", "home/Notes", "Other")
	x := n.terminal(t, "init")
	for _, shown := range []string{"vaults found:", "1  " + n.Path("Other"), "2  " + n.Path("home", "Notes"), "3  Notes-work=" + n.Path("work", "Notes"), "which vaults (numbers, or the folder of another vault)? [all] "} {
		x.Shows(t, shown)
	}
	x.Press(t, "nowhere\n")
	x.Shows(t, `vault "nowhere" does not exist`)
	x.Shows(t, "[all] ")
	x.Press(t, "3, 2\n")
	x.Shows(t, "where should relayfs mount them? [~/relayfs] ")
	x.Press(t, n.Path("work", "Notes", "mnt")+"\n")
	x.Shows(t, "are inside each other")
	x.Shows(t, "[~/relayfs] ")
	x.Press(t, "\n")
	x.Shows(t, "mount now and at every login, with 'relayfs service install'? [y/N] ")
	x.Press(t, "y\n")
	x.Shows(t, "'relayfs service remove' undoes the installation")
	x.Wait(t)
	if calls := harness.ReadFile(t, n.calls); !strings.Contains(calls, "--user enable --now relayfs.service") {
		t.Errorf("systemctl was told %q", calls)
	}
	if out := n.Run(t, "mount", "--daemon"); out.Code != 0 {
		t.Fatalf("mount: exit code %d\n%s", out.Code, out.Stderr)
	}
	mnt := n.Path("home", "relayfs")
	for folder, vault := range map[string]string{"Notes": "home/Notes", "Notes-work": "work/Notes"} {
		harness.CheckText(t, folder, harness.ReadFile(t, filepath.Join(mnt, folder, "note.md")), "of "+vault+"\n")
	}
	if out := n.Run(t, "unmount", mnt); out.Code != 0 {
		t.Errorf("unmount: exit code %d\n%s", out.Code, out.Stderr)
	}
	again := n.terminal(t, "init")
	again.Shows(t, "exists and was not changed") // before it asks anything
}

// Without a vault it asks for one; with everything given it asks nothing.
func TestInitOfOneVault(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	n := newNewcomer(t)
	vault := n.Vault(t, "My Notes", map[string]string{"note.md": "text\n"})
	x := n.terminal(t, "init", "--mountpoint", "mnt")
	x.Shows(t, "no vault was found; which folder does Obsidian open as a vault? ")
	x.Press(t, "\n")
	x.Shows(t, "no vault is named")
	x.Shows(t, "which folder does Obsidian open as a vault? ")
	x.Press(t, vault+"\n")
	x.Shows(t, "[y/N] ")
	x.Press(t, "\n")
	x.Shows(t, "mount with:  relayfs mount")
	x.Wait(t)
	if text := harness.ReadFile(t, n.config); !strings.Contains(text, `mountpoint = "`+n.Path("mnt")+`"`) || !strings.Contains(text, `"`+vault+`"`) {
		t.Errorf("the configuration is\n%s", text)
	}
	if out := n.Run(t, "doctor"); out.Code != 0 {
		t.Errorf("doctor: exit code %d\n%s", out.Code, out.Stdout)
	}
	if err := os.Remove(n.config); err != nil {
		t.Fatal(err)
	}
	x = n.terminal(t, "init", vault, "--mountpoint", "mnt")
	x.Shows(t, "mount with:  relayfs mount")
	x.Wait(t)
	if said := x.Out.String(); strings.Contains(said, "?") {
		t.Errorf("init asked %q", said)
	}
}

// A question that is left unanswered leaves nothing behind.
func TestInitIsLeft(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string]string{"end of input": "\x04", "interrupt": "\x03"} {
		t.Run(name, func(t *testing.T) {
			n := newNewcomer(t, "Notes")
			x := n.terminal(t, "init")
			x.Shows(t, "[all] ")
			x.Press(t, keys)
			if err := <-x.Done; err == nil {
				t.Error("init has succeeded")
			}
			n.checkNothing(t)
		})
	}
}

// Without a terminal on stdin init asks nothing: it takes what it finds, and refuses where there is nothing or what cannot be mounted.
func TestInitAsksNobody(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	n := newNewcomer(t, "a/Notes", "b/Notes")
	full := n.Mkdir(t, "full")
	harness.WriteFile(t, filepath.Join(full, "mine"), "mine")
	harness.CheckRefused(t, n.Run(t, "init", "--mountpoint", full), "not empty")
	harness.CheckRefused(t, n.Run(t, "init", n.Path("a", "Notes"), "--mountpoint", n.Path("a")), "are inside each other")
	n.checkNothing(t)
	out := n.Run(t, "init")
	if out.Code != 0 || strings.Contains(out.Stderr, "?") || strings.TrimSpace(out.Stdout) != n.config {
		t.Fatalf("init: exit code %d, %q\n%s", out.Code, out.Stdout, out.Stderr)
	}
	if info, err := os.Stat(n.Path("home", "relayfs")); err != nil || !info.IsDir() {
		t.Errorf("the mountpoint was not made: %v", err)
	}
	if out := n.Run(t, "doctor"); out.Code != 0 || !strings.Contains(out.Stdout, "vault Notes-b: ") {
		t.Errorf("doctor: exit code %d\n%s", out.Code, out.Stdout)
	}
	bare := newNewcomer(t)
	harness.CheckRefused(t, bare.Run(t, "init"), "no vault found")
	bare.checkNothing(t)
}
