// Package program finds the program that makes a call: the process, the run of the process, and the agent that started
// the run, if any.
//
// A run is all work that one program was started to do. Processes that an agent starts belong to the agent's run, even
// in a session of their own (setsid(2)). Other programs belong to the run of their session; in a terminal that is the
// session of its shell. Programs without a session belong to the run of process 1.
//
// A run is identified by its first process. The kernel reuses process IDs, and in a container they repeat at each
// start. So a process is also identified by the number of its pidfd, which the kernel (since Linux 6.9) uses only once
// per boot, and [Identity.Name] also includes the boot. If pidfds have no numbers (since Linux 5.3), this process gives
// each process a random number, and recognises the process by a pidfd that it holds.
//
// A process whose parent has ended has lost its place below the agent. It still has the process group and the session
// in which the agent started it, and the environment, in which agents name themselves ([agentEnv]). The
// agent cannot be found only if the process group and the session were changed or have lost their first process, and
// the environment was cleared. Such a process looks the same as a user's service.
//
// Everything else is read from /proc/PID/status, because a read of another file there, such as /proc/PID/stat, can wait
// ([environTimeout]).
package program

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Identity identifies a process of this boot.
type Identity struct {
	PID    int
	Serial uint64 // unique number of the process; 0 if the process has ended or the kernel has no such number
}

var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// unnumbered replaces missing serial numbers. It is random, so the same run gets another name after a restart of
// relayfs.
var unnumbered = sync.OnceValue(rand.Text)

// Name returns a short name that usually no other process has, in this boot or in another one.
func (id Identity) Name() string {
	text := fmt.Sprintf("%s %d %d", bootID(), id.PID, id.Serial)
	if id.Serial == 0 {
		text += unnumbered()
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

type Program struct {
	Identity        // identity of the process
	Name     string // name of the program, at most 15 bytes
	Run      Identity
	Agent    string // name of the agent to which the run belongs; "" for a user's run
}

const SessionPrefix = "mount-"

// Session returns the name of the session to which the program's changes belong. It is the name of the run.
func (p Program) Session() string { return SessionPrefix + p.Run.Name() }

// Table finds the programs of processes.
type Table struct {
	Agents []string // names of the programs that count as agents

	mu      sync.Mutex // guards the fields below; not held while /proc is read
	threads map[uint32]cached
	known   map[Identity]Program
}

type cached struct {
	Program
	until time.Time
}

const (
	// threadTTL is the time for which a thread ID is assumed to belong to the same thread. Reading /proc costs as much
	// as the request itself.
	threadTTL = 100 * time.Millisecond
	maxKnown  = 1024
)

// OfThread returns the program of a thread whose ID is in a FUSE request. Thread 0 is the kernel or a thread outside of
// this PID namespace; for it OfThread returns the zero Program.
func (t *Table) OfThread(thread uint32) Program {
	if thread == 0 {
		return Program{}
	}
	now := time.Now()
	t.mu.Lock()
	c, ok := t.threads[thread]
	t.mu.Unlock()
	if ok && now.Before(c.until) {
		return c.Program
	}
	p := t.OfProcess(int(thread))
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.threads == nil || len(t.threads) >= maxKnown {
		t.threads = make(map[uint32]cached)
	}
	t.threads[thread] = cached{p, now.Add(threadTTL)}
	return p
}

// agentEnv maps environment variables, which agents set for the programs that they start, to the agents.
var agentEnv = map[string]string{
	"CLAUDECODE": "claude", "CLAUDE_CODE_SESSION_ID": "claude", "CODEX_SANDBOX": "codex", "CODEX_THREAD_ID": "codex",
	"CURSOR_AGENT": "cursor-agent", "GEMINI_CLI": "gemini", "OPENCODE": "opencode",
}

func (t *Table) agentIn(environ []string) string {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if agent := agentEnv[name]; agent != "" && value != "" && t.IsAgent(agent) {
			return agent
		}
	}
	return ""
}

func (t *Table) Self() Program {
	p := t.OfProcess(os.Getpid())
	if p.Agent == "" {
		p.Agent = t.agentIn(os.Environ()) // OfProcess reads no environment on macOS
	}
	return p
}

// OfProcess returns the program of a process, or of the process to which a thread belongs. It caches the result if the
// process has a serial number. So the result usually stays the same when ancestors of the process exit.
func (t *Table) OfProcess(thread int) Program {
	s, ok := readStatus(thread)
	if !ok {
		id := Identity{PID: thread}
		return Program{Identity: id, Run: id}
	}
	return t.program(s, 0)
}

const maxAncestors = 64

func (t *Table) program(s status, depth int) Program {
	id := identityOf(s.pid)
	t.mu.Lock()
	p, ok := t.known[id]
	t.mu.Unlock()
	if p.Name = s.name; ok && (p.Agent != "" || !t.IsAgent(s.name)) { // otherwise the process may have become an agent by exec(2)
		return p
	}
	p.Identity = id
	p.Run, p.Agent = t.runOf(s, id, depth)
	if id.Serial == 0 {
		return p // do not cache p, because another process may get the same PID later
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxKnown {
		t.known = make(map[Identity]Program)
	}
	t.known[id] = p
	return p
}

// runOf returns the run of a process, and the agent of the run. A process whose parent is in an agent's run is in the
// same run. A process that another user has started is in no agent's run.
func (t *Table) runOf(s status, id Identity, depth int) (run Identity, agent string) {
	above, ok := s.read(s.parent)
	if ok && depth < maxAncestors {
		if parent := t.program(above, depth+1); parent.Agent != "" {
			return parent.Run, parent.Agent
		}
	}
	if t.IsAgent(s.name) {
		return id, s.name
	}
	if !ok || above.session != s.session { // the parent has ended, or the process has its own session
		for _, first := range []int{s.group, s.session} { // no other process gets these PIDs while the group or session exists
			if leader, ok := s.read(first); ok && first != s.pid {
				if run, agent := t.agentAbove(leader); agent != "" {
					return run, agent
				}
			}
		}
	}
	agent = t.agentIn(environOf(s.pid))
	leader := s.session
	if leader == 0 {
		leader = 1 // there is no session, or it began outside of the container
	}
	if leader == s.pid {
		return id, agent
	}
	return identityOf(leader), agent
}

// agentAbove returns the run of the uppermost agent among a process and its ancestors, and that agent.
func (t *Table) agentAbove(s status) (run Identity, agent string) {
	for ok, depth := true, 0; ok && depth < maxAncestors; depth++ {
		if t.IsAgent(s.name) {
			run, agent = identityOf(s.pid), s.name
		}
		s, ok = s.read(s.parent)
	}
	return run, agent
}

// read returns the status of another process of the same user.
func (s status) read(pid int) (other status, ok bool) {
	other, ok = readStatus(pid)
	return other, ok && pid > 1 && other.uid == s.uid
}

func (t *Table) IsAgent(name string) bool { return slices.Contains(t.Agents, name) }
