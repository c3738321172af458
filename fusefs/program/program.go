// Package program finds out which program makes a call: its process, the run that it belongs to, and the agent that
// started it, if one did.
//
// A run is everything that one program was asked to do. What an agent starts belongs to the agent's run, also in a session
// of its own (setsid(2)). Other programs belong to their session, which in a terminal is that of its shell. Those without
// one are the run of process 1.
//
// A run is known by its first process. The kernel gives numbers of processes out again, and in a container they repeat at
// each start. So a process is known by the number of its pidfd, too, which the kernel (Linux 6.9) gives out once in each
// boot, and [Identity.Name] has the boot in it as well. Where pidfds have no numbers (Linux 5.3) this process draws one for
// each process that it meets, and knows it by a pidfd that it holds.
//
// All else is read from /proc/PID/status alone. Other files there, as stat, environ or exe, wait for a process that is
// about to begin another program, and that one may wait for the mount, which asks here: it closes what it has open.
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

// Identity names a process of this boot.
type Identity struct {
	PID    int
	Serial uint64 // what no other process has; 0 if it has ended, or the kernel does not tell
}

// bootID is the kernel's random name of this boot.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// unnumbered takes the place of serial numbers where there are none: a run has another name after a restart of relayfs then.
var unnumbered = sync.OnceValue(rand.Text)

// Name is a short name of the process that no other one has, on this boot or another.
func (id Identity) Name() string {
	text := fmt.Sprintf("%s %d %d", bootID(), id.PID, id.Serial)
	if id.Serial == 0 {
		text += unnumbered()
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:5])
}

// Program is who makes a call.
type Program struct {
	Identity        // of the process
	Name     string // of the program, at most 15 bytes
	Run      Identity
	Agent    string // the name of the agent whose run it is, "" for a person's
}

// SessionPrefix begins the names of the sessions of programs on a mount.
const SessionPrefix = "mount-"

// Session names the session that the changes of the program belong to: its run.
func (p Program) Session() string { return SessionPrefix + p.Run.Name() }

// Agents are the names of the programs of agents that are known without configuration. A process that has one of them
// as its name (/proc/PID/comm), and what it starts, is an agent's run.
var Agents = []string{"aider", "amp", "claude", "codex", "copilot", "crush", "cursor-agent", "gemini", "goose", "opencode", "qwen"}

// Table finds the programs of processes. The zero Table knows Agents.
type Table struct {
	Agents []string // instead of the package's, unless nil

	mu      sync.Mutex // protects the following; nobody reads /proc with it
	threads map[uint32]cached
	known   map[Identity]Program
}

type cached struct {
	Program
	until time.Time
}

const (
	// threadTTL is how long a thread's number is taken for the same thread: /proc costs as much as the request itself.
	threadTTL = 100 * time.Millisecond
	maxKnown  = 1024
)

// OfThread returns the program of a thread, which is what FUSE names. The kernel itself, 0, is the zero Program.
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

// sessionEnv are variables that agents set for what they start, and those agents.
var sessionEnv = map[string]string{"CLAUDE_CODE_SESSION_ID": "claude"}

// Self returns this program. An agent that is no ancestor any more is known by what it has put into the environment.
func (t *Table) Self() Program {
	p := t.OfProcess(os.Getpid())
	for name, agent := range sessionEnv {
		if p.Agent == "" && os.Getenv(name) != "" && t.IsAgent(agent) {
			p.Agent = agent
		}
	}
	return p
}

// OfProcess returns the program of a process, or of the process of a thread. What was found once stays, whatever becomes of its ancestors.
func (t *Table) OfProcess(thread int) Program {
	s, ok := readStatus(thread)
	if !ok {
		id := Identity{PID: thread}
		return Program{Identity: id, Run: id}
	}
	return t.program(s, 0)
}

// maxAncestors bounds the walk from a process to the first one.
const maxAncestors = 64

func (t *Table) program(s status, depth int) Program {
	id := identityOf(s.pid)
	t.mu.Lock()
	p, known := t.known[id]
	t.mu.Unlock()
	if p.Name = s.name; known && (p.Agent != "" || !t.IsAgent(s.name)) { // a process may become an agent by exec(2)
		return p
	}
	p.Identity = id
	p.Run, p.Agent = t.runOf(s, id, depth)
	if id.Serial == 0 {
		return p // another process may have its number later
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxKnown {
		t.known = make(map[Identity]Program)
	}
	t.known[id] = p
	return p
}

// runOf finds the run of a process, and its agent: those of its parent if that is in an agent's run. What the system or
// another user has started is in nobody's.
func (t *Table) runOf(s status, id Identity, depth int) (run Identity, agent string) {
	if above, ok := readStatus(s.parent); ok && s.parent > 1 && above.uid == s.uid && depth < maxAncestors {
		if parent := t.program(above, depth+1); parent.Agent != "" {
			return parent.Run, parent.Agent
		}
	}
	if t.IsAgent(s.name) {
		return id, s.name
	}
	leader := s.session // its number is taken as long as the session is there
	if leader == 0 {
		leader = 1 // nobody asked for a session, or it began outside of the container
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
