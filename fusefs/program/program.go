// Package program finds the program that makes a call: its process, the run to which it belongs, and the agent that
// started it, if any.
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
// Everything else is read from /proc/PID/status. A read of another file there, such as stat, environ or exe, waits if
// the process is in the middle of exec(2). That process may itself wait for the mount, because exec closes its files,
// and the mount is waiting for this package.
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

// bootID is the kernel's random ID of this boot.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// unnumbered replaces missing serial numbers. It is random, so the same run gets another name after a restart of
// relayfs.
var unnumbered = sync.OnceValue(rand.Text)

// Name returns a short name that no other process has, in this boot or in another one.
func (id Identity) Name() string {
	text := fmt.Sprintf("%s %d %d", bootID(), id.PID, id.Serial)
	if id.Serial == 0 {
		text += unnumbered()
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// Program describes the program that makes a call.
type Program struct {
	Identity        // identity of the process
	Name     string // name of the program, at most 15 bytes
	Run      Identity
	Agent    string // name of the agent to which the run belongs; "" for a user's run
}

// SessionPrefix is the prefix of the session names of programs on a mount.
const SessionPrefix = "mount-"

// Session returns the name of the session to which the program's changes belong. It is the name of the run.
func (p Program) Session() string { return SessionPrefix + p.Run.Name() }

// Agents are the program names that count as agents by default. If a process has such a name (/proc/PID/comm), the
// process and everything that it starts is an agent's run.
var Agents = []string{"aider", "amp", "claude", "codex", "copilot", "crush", "cursor-agent", "gemini", "goose", "opencode", "qwen"}

// Table finds the programs of processes. The zero Table uses Agents.
type Table struct {
	Agents []string // replaces the package's Agents unless it is nil

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

// OfThread returns the program of a thread whose ID is in a FUSE request. Thread 0 is the kernel; for it OfThread
// returns the zero Program.
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

// sessionEnv maps environment variables, which agents set for the programs that they start, to the agents.
var sessionEnv = map[string]string{"CLAUDE_CODE_SESSION_ID": "claude"}

// Self returns this program. It recognises an agent that is no longer an ancestor by the agent's variable in the
// environment.
func (t *Table) Self() Program {
	p := t.OfProcess(os.Getpid())
	for name, agent := range sessionEnv {
		if p.Agent == "" && os.Getenv(name) != "" && t.IsAgent(agent) {
			p.Agent = agent
		}
	}
	return p
}

// OfProcess returns the program of a process, or of the process to which a thread belongs. It caches the result, which
// stays the same when ancestors of the process exit.
func (t *Table) OfProcess(thread int) Program {
	s, ok := readStatus(thread)
	if !ok {
		id := Identity{PID: thread}
		return Program{Identity: id, Run: id}
	}
	return t.program(s, 0)
}

// maxAncestors is the maximum number of ancestors that are visited.
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
		return p // do not cache it, because another process may get its PID later
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
// same run. A process that the system or another user has started is in no agent's run.
func (t *Table) runOf(s status, id Identity, depth int) (run Identity, agent string) {
	if above, ok := readStatus(s.parent); ok && s.parent > 1 && above.uid == s.uid && depth < maxAncestors {
		if parent := t.program(above, depth+1); parent.Agent != "" {
			return parent.Run, parent.Agent
		}
	}
	if t.IsAgent(s.name) {
		return id, s.name
	}
	leader := s.session // no other process gets this PID while the session exists
	if leader == 0 {
		leader = 1 // there is no session, or it began outside of the container
	}
	if leader == s.pid {
		return id, ""
	}
	return identityOf(leader), ""
}

func (t *Table) IsAgent(name string) bool {
	list := t.Agents
	if list == nil {
		list = Agents
	}
	return slices.Contains(list, name)
}
