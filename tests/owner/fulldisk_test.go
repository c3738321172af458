package owner

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/relayfs/relayfs/tests/internal/harness"
)

// A mount that was killed starts again on a state disk that has become full, is found by other
// commands, and serves.
func TestStartOnAFullStateDisk(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	disk := s.SmallDisk(t, "1m")
	state := s.Path("disk", "state")
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	m := s.Mount(t, vault, "RELAYFS_STATE="+state)
	harness.WriteFile(t, m.Path("note.md"), harness.TideTable+"One more.\n")
	m.Kill(t)
	disk.Fill(t)

	m = s.Mount(t, vault, "RELAYFS_STATE="+state)
	disk.Fill(t)
	out := s.Run(t, "status", "RELAYFS_STATE="+state)
	if want := fmt.Sprintf("running: relayfs mount (pid %d)", m.Cmd.Process.Pid); !strings.Contains(out.Stdout, want) {
		t.Errorf("status says\n%s%s, want %s", out.Stdout, out.Stderr, want)
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, m.Path("note.md")), harness.TideTable+"One more.\n")
	m.Stop(t)
}

// Where the last owner has left no room either, a mount starts all the same, and is found
// once there is room.
func TestStartWithoutRoomForTheAnnouncement(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	disk := s.SmallDisk(t, "1m")
	state := s.Path("disk", "state")
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	s.Mount(t, vault, "RELAYFS_STATE="+state).Stop(t)
	disk.Fill(t)

	m := s.Mount(t, vault, "RELAYFS_STATE="+state)
	m.Log.Says(t, "other relayfs commands cannot find this process")
	disk.Drain(t)
	harness.WaitFor(t, "the mount to be found", func() bool {
		return strings.Contains(s.Run(t, "status", "RELAYFS_STATE="+state, vault).Stdout, "running: relayfs mount")
	})
	m.Log.Says(t, "problem is over")
	m.Stop(t)
}

// On a full disk a state folder cannot be made. The error says where there is no room.
func TestNoRoomForAState(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	s.SmallDisk(t, "1m").Fill(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	out := s.Run(t, "mount", vault, s.Mkdir(t, "mnt"), "RELAYFS_STATE="+s.Path("disk", "state"))
	if out.Code != 1 || !strings.Contains(out.Stderr, s.Path("disk", "state")) || !strings.Contains(out.Stderr, "hint: free space on that disk") {
		t.Errorf("exit %d, %s", out.Code, out.Stderr)
	}
	_, text, _ := strings.Cut(out.Stderr, "relayfs: error: ")
	if n := strings.Count(text, "no space left"); n != 1 {
		t.Errorf("the error says it %d times: %s", n, text)
	}
}

// Status tells of a full disk of the vault, once, until there is room again.
func TestStatusOfAFullVaultDisk(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	disk := s.SmallDisk(t, "256k")
	m := s.Mount(t, s.Vault(t, "disk/Vault", map[string]string{"note.md": harness.TideTable}))
	disk.Fill(t)
	for range 2 {
		if err := os.WriteFile(m.Path("note.md"), []byte(harness.TideTable+"One more.\n"), 0o644); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("the save on the full disk: %v", err)
		}
	}
	const problem = "notes cannot be written in "
	want := fmt.Sprintf("%s%q: no space left on device; free space on its disk; a save that fails changes nothing\n", problem, m.Vault)
	if out := s.Run(t, "status"); !strings.Contains(out.Stdout, want) {
		t.Errorf("status says\n%s, want %s", out.Stdout, want)
	}
	m.Log.Says(t, problem)
	if n := strings.Count(m.Log.String(), problem); n != 1 {
		t.Errorf("the log says it %d times: %s", n, m.Log)
	}
	disk.Drain(t)
	if out := s.Run(t, "status"); strings.Contains(out.Stdout, "PROBLEM") {
		t.Errorf("the disk has room, and status says\n%s", out.Stdout)
	}
	if names := harness.ListFiles(t, m.Vault); len(names) != 1 {
		t.Errorf("the vault has %v", names)
	}
	m.Stop(t)
}

// Who only looks at a vault leaves nothing but the lock of all vaults, nor does who cannot start.
// What was decided stays.
func TestLookingLeavesNoState(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": "one {++two++}\n"})
	for _, args := range [][]string{
		{"suggestions", "list", vault}, {"suggestions", "log", vault}, {"status", vault}, {"ls", "--source", vault},
		{"cat", "Vault/note.md", "--source", vault}, {"grep", "two", "--source", vault},
		{"mount", "ys://127.0.0.1:99999#A=b", s.Mkdir(t, "mnt")},
		{"mount", "ys://127.0.0.1:1#A=b", s.Mkdir(t, "mnt")},
	} {
		out := s.Run(t, args...)
		if want := map[bool]int{true: 2}[args[1] == "ys://127.0.0.1:99999"]; args[0] != "mount" && out.Code != 0 || want != 0 && out.Code != want {
			t.Errorf("%v: exit %d\n%s%s", args, out.Code, out.Stdout, out.Stderr)
		}
		if n := strings.Count(out.Stderr, "server cannot be reached"); n > 1 {
			t.Errorf("%v says %d times why: %s", args, n, out.Stderr)
		}
		left, err := os.ReadDir(s.Path("xdg", "state_home", "relayfs", "vaults"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for _, e := range left {
			if e.Name() != ".lock" {
				t.Errorf("%v leaves %s", args, e.Name())
			}
		}
	}
	config := s.Path("my config")
	harness.WriteFile(t, config, fmt.Sprintf("state = %q\n", s.Path("state")))
	out := s.Run(t, "suggestions", "accept", "--all", vault, "--config", config)
	_, back, _ := strings.Cut(strings.TrimSpace(out.Stderr), "undo with: relayfs ")
	if out.Code != 0 || !strings.HasSuffix(back, " --config '"+config+"'") {
		t.Fatalf("accept: %s", out.Stderr)
	}
	words := strings.Fields(strings.ReplaceAll(back, "'"+config+"'", "CONFIG"))
	words[len(words)-1] = config
	if out := s.Run(t, words...); out.Code != 0 {
		t.Errorf("%s: %s", back, out.Stderr)
	}
	harness.CheckText(t, "the note", harness.ReadFile(t, vault+"/note.md"), "one {++two++}\n")
}

// The socket of a process that was killed goes when the next one starts.
func TestStaleSocketsGo(t *testing.T) {
	t.Parallel()
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"note.md": harness.TideTable})
	m := s.Mount(t, vault)
	socket := fmt.Sprintf("%d.sock", m.Cmd.Process.Pid)
	var where string
	for _, name := range harness.ListFiles(t, s.Path("xdg")) {
		if strings.HasSuffix(name, socket) {
			where = name
		}
	}
	if where == "" {
		t.Fatalf("no %s in %v", socket, harness.ListFiles(t, s.Path("xdg")))
	}
	m.Kill(t)
	m = s.Mount(t, vault)
	for _, name := range harness.ListFiles(t, s.Path("xdg")) {
		if name == where {
			t.Errorf("%s is still there", name)
		}
	}
	m.Stop(t)
}
