package program

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/need"
)

func TestParseStat(t *testing.T) {
	const rest = " S 100 4711 4000 34816 4711 4194304 1 0 0 0 1 2 0 0 20 0 1 0 987654 1000 1 18446744073709551615"
	for _, name := range []string{"sh", "my prog", "a) S 1 (b", ""} {
		got, ok := parseStat([]byte("4711 (" + name + ")" + rest))
		want := stat{Identity: Identity{4711, 987654}, name: name, parent: 100, session: 4000, tty: 34816}
		if !ok || got != want {
			t.Errorf("named %q: got %+v, %v, want %+v", name, got, ok, want)
		}
	}
	for _, text := range []string{"", "4711", "4711 (sh)", "4711 (sh) S 1 2", "x (sh)" + rest, "4711 (sh)" + strings.Replace(rest, "987654", "-", 1), ")4711("} {
		if got, ok := parseStat([]byte(text)); ok {
			t.Errorf("%q: got %+v, want none", text, got)
		}
	}
}

// A request made by any thread of a process belongs to the process.
func TestProgramOfAThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	table := new(Table)
	for range 2 { // the second answer comes from the cache
		got := table.OfThread(uint32(syscall.Gettid()))
		if got.PID != os.Getpid() || got.Start == 0 || got.Name == "" || got != table.Self() {
			t.Errorf("got %+v, want this process, which is %+v", got, table.Self())
		}
	}
	if got := table.OfThread(0); got != (Program{}) {
		t.Errorf("the kernel: got %+v, want none", got)
	}
}

// started runs a shell script whose process has the given name, and returns the numbers of processes that it prints, one a
// line, as soon as it has printed n of them. The processes live until the test ends.
func started(t *testing.T, name, script string, n int, env ...string) (pids []int) {
	t.Helper()
	need.Programs(t, "setsid")
	file := filepath.Join(t.TempDir(), name)
	if err := os.Symlink("/bin/sh", file); err != nil { // a process has the name of the link
		t.Fatal(err)
	}
	cmd := exec.Command(file, "-c", script+"\nwait\nsleep 1000")
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
	})
	lines := bufio.NewScanner(out)
	for len(pids) < n && lines.Scan() {
		pid, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil {
			t.Fatalf("%s printed %q", name, lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) < n {
		t.Fatalf("%s printed %d numbers, want %d", name, len(pids), n)
	}
	return pids
}

// Whatever an agent starts belongs to its run, in a session of its own or not.
func TestRunOfAnAgent(t *testing.T) {
	const script = `echo $$; sh -c 'echo $$; exec sleep 1000' & setsid sh -c 'echo $$; setsid sh -c "echo \$\$; exec sleep 1000" & sleep 1000' &`
	pids := started(t, "claude", script, 4)
	table := new(Table)
	agent := table.find(pids[0])
	if agent.Agent != "claude" || agent.Run != agent.Identity {
		t.Errorf("the agent is %+v, want a run of its own", agent)
	}
	for _, pid := range pids[1:] {
		if p := table.find(pid); p.Agent != "claude" || p.Run != agent.Run {
			t.Errorf("what it started is %+v, want the run %+v", p, agent.Run)
		}
	}
	if again := new(Table).find(pids[3]); again.Run.Name() != agent.Run.Name() {
		t.Errorf("another table names the run %s, want %s", again.Run.Name(), agent.Run.Name())
	}
	second := started(t, "claude", `echo $$`, 1)
	if p := table.find(second[0]); p.Run == agent.Run {
		t.Errorf("a second run has the identity of the first, %+v", p.Run)
	}
}

// An agent inside of an agent's run is of that run, with the name of the outer one.
func TestRunOfAnAgentOfAnAgent(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "codex")); err != nil {
		t.Fatal(err)
	}
	pids := started(t, "claude", fmt.Sprintf(`echo $$; %s/codex -c 'echo $$; sleep 1000; :' &`, dir), 2)
	table := new(Table)
	if outer, inner := table.find(pids[0]), table.find(pids[1]); inner.Agent != "claude" || inner.Run != outer.Run || inner.Name != "codex" {
		t.Errorf("the inner agent is %+v, want the run of the outer one, %+v", inner, outer)
	}
}

// A process whose agent is no ancestor of it any more is known by what the agent put into its environment.
func TestRunByEnvironment(t *testing.T) {
	orphan := func(env ...string) int { // its parent ends at once
		return started(t, "sh", `setsid sh -c 'sleep 1000 & echo $!'`, 1, env...)[0]
	}
	table := new(Table)
	first, same := table.find(orphan("CLAUDE_CODE_SESSION_ID=one")), table.find(orphan("CLAUDE_CODE_SESSION_ID=one"))
	if first.Agent != "claude" || first.Run != same.Run {
		t.Errorf("two processes of one run are %+v and %+v, want one run of claude", first, same)
	}
	if other := table.find(orphan("CLAUDE_CODE_SESSION_ID=two")); other.Run == first.Run || other.Agent != "claude" {
		t.Errorf("another run is %+v, want another one than %+v", other, first)
	}
	if empty := table.find(orphan("CLAUDE_CODE_SESSION_ID=")); empty.Agent != "" {
		t.Errorf("an empty name of a run makes %+v, want no agent", empty)
	}
	pids := started(t, "claude", `CLAUDE_CODE_SESSION_ID=three sh -c 'echo $$; exec sleep 1000' &`, 1)
	child := table.find(pids[0])
	if late := table.find(orphan("CLAUDE_CODE_SESSION_ID=three")); late.Run != child.Run || child.Run.PID == child.PID {
		t.Errorf("an orphan of a known run is %+v, want the run %+v of the agent", late, child.Run)
	}
}

// Without an agent, sessions without a terminal belong to the one that started them, and a session of a terminal stands
// for itself.
func TestRunWithoutAgent(t *testing.T) {
	pids := started(t, "runner", `echo $$; sh -c 'echo $$; exec sleep 1000' & setsid sh -c 'echo $$; exec sleep 1000' &`, 3)
	table := new(Table)
	self := table.Self()
	for _, pid := range pids {
		if p := table.find(pid); p.Agent != self.Agent || p.Run != self.Run {
			t.Errorf("process %d is %+v, want the run of this test, %+v", pid, p, self)
		}
	}
	need.Programs(t, "script")
	inTerminal := started(t, "runner", `script -qc 'echo $$; sh -c "echo \$\$; exec sleep 1000"' /dev/null`, 2)
	shell, child := table.find(inTerminal[0]), table.find(inTerminal[1])
	if sid, err := unix.Getsid(inTerminal[0]); err != nil || self.Agent == "" && (shell.Run.PID != sid || child.Run != shell.Run) {
		t.Errorf("in the terminal's session %d (%v): %+v and %+v, want both in a run of that session", sid, err, shell, child)
	}
}

// A table forgets, and stays small.
func TestTableIsBounded(t *testing.T) {
	table := &Table{known: make(map[Identity]Program), runs: make(map[string]Identity)}
	for i := range 2 * maxKnown {
		table.known[Identity{PID: -i}] = Program{}
		table.remember(strconv.Itoa(i), Identity{})
	}
	table.Self()
	if len(table.known) > maxKnown || len(table.runs) > maxKnown {
		t.Errorf("the table holds %d programs and %d runs, want at most %d", len(table.known), len(table.runs), maxKnown)
	}
}

func BenchmarkProgram(b *testing.B) {
	for b.Loop() {
		new(Table).Self()
	}
}
