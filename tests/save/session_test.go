package save

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/relayfs/relayfs/tests/internal/harness"
	"github.com/relayfs/relayfs/tests/need"
)

// lastPID is the number after which the kernel looks for that of the next process. Only root may set it.
const lastPID = "/proc/sys/kernel/ns_last_pid"

// sitting runs a script in a session of its own, whose leader has the number pid, 0 for any, and returns that.
func sitting(t *testing.T, pid int, script string) int {
	t.Helper()
	for range 2000 {
		if pid != 0 {
			if err := os.WriteFile(lastPID, []byte(strconv.Itoa(pid-1)), 0); err != nil {
				t.Skip(err)
			}
		}
		cmd := exec.Command("sh", "-c", fmt.Sprintf("[ %d = 0 ] || [ $$ = %d ] || exit 77\n%s", pid, pid, script))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out := harness.RunCommand(t, cmd)
		switch out.Code {
		case 0:
			return cmd.Process.Pid
		case 77:
		default:
			t.Fatalf("exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
		}
	}
	t.Skipf("no process got the number %d", pid)
	return 0
}

// sessions returns the sessions of what waits, by note.
func sessions(t *testing.T, s *harness.Sandbox, vault string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for _, x := range s.Suggestions(t, vault) {
		found[x.Path[strings.LastIndex(x.Path, "/")+1:]] = x.Session
	}
	return found
}

// Two sittings whose leaders have the same number are two sessions, also if relayfs was started again in between, as a container
// is whose numbers begin at 1 each time. Undo of one leaves the other.
func TestSessionsWithOneNumber(t *testing.T) {
	need.Programs(t, "sh", "sed")
	if os.Geteuid() != 0 {
		t.Skip("only root chooses the numbers of processes")
	}
	for name, between := range map[string]func(*testing.T, *harness.Sandbox, *harness.Mount) *harness.Mount{
		"one mount": func(_ *testing.T, _ *harness.Sandbox, m *harness.Mount) *harness.Mount { return m },
		"a restart": func(t *testing.T, s *harness.Sandbox, m *harness.Mount) *harness.Mount {
			m.Stop(t)
			return s.MountAt(t, m.Vault, s.Mkdir(t, "again"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewSandbox(t)
			vault := s.Vault(t, "Vault", map[string]string{"Monday.md": "alpha\n", "Tuesday.md": "alpha\n"})
			m := s.Mount(t, vault)
			pid := sitting(t, 0, fmt.Sprintf("sed -i s/alpha/Monday/ '%s'", m.Path("Monday.md")))
			m = between(t, s, m)
			time.Sleep(200 * time.Millisecond) // for less a number is taken for the same process, which the kernel gives out in turn
			sitting(t, pid, fmt.Sprintf("sed -i s/alpha/Tuesday/ '%s'", m.Path("Tuesday.md")))
			by := sessions(t, s, vault)
			if by["Monday.md"] == "" || by["Tuesday.md"] == "" || by["Monday.md"] == by["Tuesday.md"] {
				t.Fatalf("the sessions are %v", by)
			}
			if out := s.Run(t, "suggestions", "undo", "--session", by["Tuesday.md"], vault); out.Code != 0 {
				t.Fatalf("undo: exit %d: %s%s", out.Code, out.Stdout, out.Stderr)
			}
			harness.CheckText(t, "Monday's note", harness.ReadFile(t, m.Path("Monday.md")), "Monday\n")
			harness.CheckText(t, "Tuesday's note", harness.ReadFile(t, m.VaultPath("Tuesday.md")), "alpha\n")
		})
	}
}

// In a container the numbers of processes begin at 1 at each start. What two starts do are sessions of their own all the same: that of
// process 1, and that of a leader with one number.
func TestSessionsOfAContainer(t *testing.T) {
	t.Parallel()
	harness.RequireFUSE(t)
	need.Programs(t, "unshare", "setsid", "sed")
	s := harness.NewSandbox(t)
	vault := s.Vault(t, "Vault", map[string]string{"one 1.md": "alpha\n", "one led.md": "alpha\n", "two 1.md": "alpha\n", "two led.md": "alpha\n"})
	unshare := []string{"env", "unshare", "--pid", "--fork", "--mount-proc"}
	if os.Geteuid() != 0 {
		unshare = append(unshare, "--user", "--map-root-user")
	}
	const script = `
set -e
"$RELAYFS" mount "$VAULT" "$MNT" 2>"$START.log" &
until grep -qs "^mounted" "$START.log"; do kill -0 $! || { cat "$START.log"; exit 1; }; sleep 0.05; done
[ $$ = 1 ]
sed -i s/alpha/beta/ "$MNT/Vault/$START 1.md"
echo 999 > /proc/sys/kernel/ns_last_pid
setsid sh -c '[ $$ = 1000 ] && sed -i s/alpha/beta/ "$MNT/Vault/$START led.md"'
"$RELAYFS" unmount "$MNT"
wait
`
	for _, start := range []string{"one", "two"} {
		cmd := s.Command(t.Context())
		cmd.Path, cmd.Args = "/usr/bin/env", append(unshare, "sh", "-c", script)
		cmd.Env = append(s.Env, "START="+start, "VAULT="+vault, "MNT="+s.Mkdir(t, start), "RELAYFS="+s.Binary)
		if out := harness.RunCommand(t, cmd); out.Code != 0 {
			if strings.Contains(out.Stderr, "unshare") || strings.Contains(out.Stderr, "ns_last_pid") {
				need.Missing(t, "no namespaces: %s", out.Stderr)
			}
			t.Fatalf("start %s: exit %d: %s%s", start, out.Code, out.Stdout, out.Stderr)
		}
	}
	by := sessions(t, s, vault)
	if different := slices.Compact(slices.Sorted(maps.Values(by))); len(by) != 4 || len(different) != 4 {
		t.Errorf("the sessions are %v, want four", by)
	}
}

// What a process writes is no change of what an earlier process with its number had read.
func TestReaderWithAnEarlierNumber(t *testing.T) {
	need.Programs(t, "sh", "cat", "cp")
	if os.Geteuid() != 0 {
		t.Skip("only root chooses the numbers of processes")
	}
	s := harness.NewSandbox(t)
	m := s.Mount(t, s.Vault(t, "Vault", map[string]string{"note.md": "alpha\n\nbeta\n"}))
	pid := sitting(t, 0, fmt.Sprintf("exec cat '%s' > /dev/null", m.Path("note.md")))
	const edited = "alpha\n\na person's paragraph\n\nbeta\n"
	harness.WriteFile(t, m.VaultPath("note.md"), edited)
	harness.Eventually(t, need.Scaled(20*time.Second), func() error {
		if got := harness.ReadFile(t, m.Path("note.md")); got != edited {
			return fmt.Errorf("the mount shows %q", got)
		}
		return nil
	})
	want := strings.Replace(edited, "beta", "BETA", 1)
	harness.WriteFile(t, s.Path("new"), want)
	sitting(t, pid, fmt.Sprintf("exec cp '%s' '%s'", s.Path("new"), m.Path("note.md")))
	harness.CheckText(t, "the note", harness.ReadFile(t, m.Path("note.md")), want)
	if raw := harness.ReadFile(t, m.VaultPath("note.md")); strings.Count(raw, "a person's paragraph") != 1 {
		t.Errorf("the vault has %q", raw)
	}
}
