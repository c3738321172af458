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
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/relayfs/relayfs/tests/need"
)

func TestParseStatus(t *testing.T) {
	const text = "Name:\tmy prog\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t4711\nPid:\t4713\nPPid:\t100\nUid:\t1000\t0\t0\t0\nNSpid:\t4713\t12\nNSpgid:\t4500\t1\nNSsid:\t4000\t1\n"
	if got, want := parseStatus([]byte(text), 4713), (status{4711, "my prog", 100, 4500, 4000, 1000}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := parseStatus([]byte("Tgid:\nPPid:\tx\nnonsense"), 5); got != (status{pid: 5}) {
		t.Errorf("from nonsense: got %+v, want process 5", got)
	}
}

// A request made by any thread of a process belongs to the process.
func TestProgramOfAThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	table := new(Table)
	for range 2 { // the second answer comes from the cache
		got := table.OfThread(uint32(syscall.Gettid()))
		if got.PID != os.Getpid() || got.Serial == 0 || got.Name == "" || got != table.Self() {
			t.Errorf("got %+v, want this process, which is %+v", got, table.Self())
		}
	}
	if got := table.OfThread(0); got != (Program{}) {
		t.Errorf("the kernel: got %+v, want none", got)
	}
}

// A process has its own name, whatever those of its threads are.
func TestNameOfAProcess(t *testing.T) {
	var all sync.WaitGroup
	for range 2 { // the first thread of the process runs one of them at most
		all.Go(func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			if syscall.Gettid() == os.Getpid() {
				return
			}
			if err := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&[]byte("pool\x00")[0])), 0, 0, 0); err != nil {
				t.Error(err)
			}
			table := new(Table)
			if got, want := table.OfThread(uint32(syscall.Gettid())).Name, table.Self().Name; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	all.Wait()
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

// robots knows only agents of these tests, which may be run by another one.
func robots() *Table { return &Table{Agents: []string{"robot", "droid"}} }

// Whatever an agent starts belongs to its run, in a session of its own or not.
func TestRunOfAnAgent(t *testing.T) {
	const script = `echo $$; sh -c 'echo $$; exec sleep 1000' & setsid sh -c 'echo $$; setsid sh -c "echo \$\$; exec sleep 1000" & sleep 1000' &`
	pids := started(t, "robot", script, 4)
	table := robots()
	agent := table.OfProcess(pids[0])
	if agent.Agent != "robot" || agent.Run != agent.Identity {
		t.Errorf("the agent is %+v, want a run of its own", agent)
	}
	for _, pid := range pids[1:] {
		if p := table.OfProcess(pid); p.Agent != "robot" || p.Run != agent.Run {
			t.Errorf("what it started is %+v, want the run %+v", p, agent.Run)
		}
	}
	if again := robots().OfProcess(pids[3]); again.Run.Name() != agent.Run.Name() {
		t.Errorf("another table names the run %s, want %s", again.Run.Name(), agent.Run.Name())
	}
	second := started(t, "robot", `echo $$`, 1)
	if p := table.OfProcess(second[0]); p.Run == agent.Run {
		t.Errorf("a second run has the identity of the first, %+v", p.Run)
	}
}

// detached starts a process by a script like those of started, and returns its ID once its parent has ended.
func detached(t *testing.T, name, script string, env ...string) int {
	t.Helper()
	pid := started(t, name, script, 1, env...)[0]
	for end := time.Now().Add(need.Scaled(10 * time.Second)); ; time.Sleep(time.Millisecond) {
		s, _ := readStatus(pid)
		if above, ok := readStatus(s.parent); s.parent == 1 || ok && above.parent <= 1 {
			return pid
		}
		if time.Now().After(end) {
			t.Fatalf("process %d still has the parent %d", pid, s.parent)
		}
	}
}

// A process whose parent has ended is found by its process group and its session, or else by its environment.
func TestRunOfADetachedProcess(t *testing.T) {
	const print, inGroup, inSession = `echo $$; exec sleep 1000`, `(sh -c '%s' &)`, `(set -m; sh -c '%s' &)`
	for _, script := range []string{inGroup, inSession} {
		if p := robots().OfProcess(detached(t, "robot", fmt.Sprintf(script, print))); p.Agent != "robot" || p.Run == p.Identity {
			t.Errorf("%s: got %+v, want a process of the robot's run", script, p)
		}
	}
	table := &Table{Agents: []string{"gemini"}}
	const alone = `(setsid sh -c '` + print + `' &)`
	if p := table.OfProcess(detached(t, "runner", alone, "GEMINI_CLI=1")); p.Agent != "gemini" || p.Run != p.Identity {
		t.Errorf("by the environment: got %+v, want a run of its own of the agent gemini", p)
	}
	for _, value := range []string{"GEMINI_CLI=", "CLAUDECODE=1"} {
		if p := table.OfProcess(detached(t, "runner", alone, "GEMINI_CLI=", value)); p.Agent != "" {
			t.Errorf("with %s: got %+v, want no agent", value, p)
		}
	}
}

// An agent inside of an agent's run is of that run, with the name of the outer one.
func TestRunOfAnAgentOfAnAgent(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/bin/sh", filepath.Join(dir, "droid")); err != nil {
		t.Fatal(err)
	}
	pids := started(t, "robot", fmt.Sprintf(`echo $$; %s/droid -c 'echo $$; sleep 1000; :' &`, dir), 2)
	table := robots()
	if outer, inner := table.OfProcess(pids[0]), table.OfProcess(pids[1]); inner.Agent != "robot" || inner.Run != outer.Run || inner.Name != "droid" {
		t.Errorf("the inner agent is %+v, want the run of the outer one, %+v", inner, outer)
	}
}

// Without an agent, a run is a session.
func TestRunWithoutAgent(t *testing.T) {
	pids := started(t, "runner", `echo $$; sh -c 'echo $$; exec sleep 1000' & setsid sh -c 'echo $$; exec sleep 1000' &`, 3)
	table := &Table{Agents: []string{}}
	leader := table.OfProcess(pids[0])
	if leader.Run != leader.Identity || leader.Agent != "" {
		t.Errorf("the leader of a session: got %+v, want a run of its own", leader)
	}
	for _, pid := range pids[1:] { // they print in any order
		p, want := table.OfProcess(pid), leader.Run
		if sid, err := unix.Getsid(pid); err != nil || sid == pid {
			want = p.Identity
		}
		if p.Run != want || p.Agent != "" {
			t.Errorf("process %d: got %+v, want the run %+v", pid, p, want)
		}
	}
}

// Processes without a session, or with one that began outside of the container, are one run.
func TestRunWithoutSession(t *testing.T) {
	for _, pid := range []int{1, 4711, 4712} {
		run, agent := new(Table).runOf(status{pid: pid}, Identity{PID: pid}, 0)
		if run.PID != 1 || agent != "" {
			t.Errorf("process %d: run %+v of agent %q, want the run of process 1", pid, run, agent)
		}
	}
}

// This process is an agent's if the environment says so.
func TestSelfByEnvironment(t *testing.T) {
	table := &Table{Agents: []string{"claude"}}
	if table.Self().Agent != "" {
		t.Skip("an agent runs this test")
	}
	t.Setenv("CLAUDECODE", "1")
	if got := table.Self(); got.Agent != "claude" {
		t.Errorf("got %+v, want the agent claude", got)
	}
	if got := (&Table{Agents: []string{}}).Self(); got.Agent != "" {
		t.Errorf("with no agents: got %+v, want none", got)
	}
}

// A table forgets, and stays small.
func TestTableIsBounded(t *testing.T) {
	table := &Table{known: make(map[Identity]Program)}
	for i := range 2 * maxKnown {
		table.known[Identity{PID: -i}] = Program{}
	}
	table.Self()
	if len(table.known) > maxKnown {
		t.Errorf("the table holds %d programs, want at most %d", len(table.known), maxKnown)
	}
}

func BenchmarkProgram(b *testing.B) {
	for b.Loop() {
		new(Table).Self()
	}
}

// withoutPidfs has pidfds without numbers of their own, as before Linux 6.9.
func withoutPidfs(t *testing.T) {
	t.Helper()
	old := hasPidfs
	hasPidfs = func() bool { return false }
	t.Cleanup(func() { hasPidfs = old })
}

// On a kernel whose pidfds have no numbers, a process is itself as long as it lives, for every table, and another one
// that gets its number is another one.
func TestIdentityWithoutPidfs(t *testing.T) {
	withoutPidfs(t)
	pids := started(t, "robot", `echo $$; sh -c 'echo $$; exec sleep 1000' &`, 2)
	agent, child := robots().OfProcess(pids[0]), robots().OfProcess(pids[1])
	if agent.Serial == 0 || agent.Run != agent.Identity || agent.Agent != "robot" {
		t.Errorf("the agent is %+v, want a run of its own", agent)
	}
	if child.Serial == 0 || child.Run != agent.Run || child.Identity == agent.Identity {
		t.Errorf("what it started is %+v, want the run %+v", child, agent.Run)
	}
	if again := robots().OfProcess(pids[1]); again.Identity != child.Identity {
		t.Errorf("another table knows it as %+v, want %+v", again.Identity, child.Identity)
	}
	held.mu.Lock()
	held.procs[pids[1]].fd, held.procs[pids[0]].fd = held.procs[pids[0]].fd, held.procs[pids[1]].fd
	held.mu.Unlock()
	if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil { // its pidfd is now held for the number of the other one
		t.Fatal(err)
	}
	for end := time.Now().Add(need.Scaled(10 * time.Second)); ; time.Sleep(time.Millisecond) {
		other := robots().OfProcess(pids[1])
		if other.Identity != child.Identity && other.Serial != 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("a process whose number another one had is %+v, as that one was", other)
		}
	}
}

// The run of a session whose leader is remembered stays when others come and go, and no more than a bounded number of
// descriptors is held.
func TestHeldProcessesAreBounded(t *testing.T) {
	withoutPidfs(t)
	var h holder
	self := h.serial(os.Getpid())
	for range maxHeld + 10 {
		cmd := exec.Command("true")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		h.serial(cmd.Process.Pid)
		_ = cmd.Wait()
		if got := h.serial(os.Getpid()); got != self {
			t.Fatalf("this process is %d, and was %d", got, self)
		}
	}
	if len(h.procs) > maxHeld {
		t.Errorf("%d pidfds are held, want at most %d", len(h.procs), maxHeld)
	}
	for pid := range h.procs {
		h.drop(pid)
	}
}

// A process that has ended, and that its parent has not waited for yet, is still itself.
func TestIdentityOfAZombie(t *testing.T) {
	withoutPidfs(t)
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	before := identityOf(cmd.Process.Pid)
	in.Close()
	for !hasEnded(held.procs[cmd.Process.Pid].fd) {
		time.Sleep(time.Millisecond)
	}
	if after := identityOf(cmd.Process.Pid); after != before || before.Serial == 0 {
		t.Errorf("it is %+v, and was %+v", after, before)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if after := identityOf(cmd.Process.Pid); after == before {
		t.Errorf("it is %+v still, and is gone", after)
	}
}
