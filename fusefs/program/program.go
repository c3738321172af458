// Package program finds out which program makes a call: its process, the run that it belongs to, and the agent that
// started it, if one did.
//
// A run is everything that one program was asked to do: what an agent starts belongs to the agent's run, also in a
// session of its own (setsid(2)); what a person starts in a terminal belongs to that terminal's shell. A run is known by
// its first process, and that by its number and the time at which it started. The kernel gives numbers out again, and in
// a container they repeat at each start; the pair does not repeat until the next boot, and [Identity.Name] has the boot
// in it as well.
//
// Everything is read from /proc. Where there is none, as on macOS, each process is a run of its own.
package program

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Identity names a process, of this boot.
type Identity struct {
	PID   int
	Start uint64 // when it started, in clock ticks since the boot; 0 if that is not known
}

// bootID is the kernel's random name of this boot.
var bootID = sync.OnceValue(func() string {
	id, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(id))
})

// Name is a short name of the process that no other one has, on this boot or another.
func (id Identity) Name() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", bootID(), id.PID, id.Start))
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

// sessionEnv are variables with which agents name their run to what they start, and those agents. They tell of a process
// whose agent is no ancestor of it any more.
var sessionEnv = map[string]string{"CLAUDE_CODE_SESSION_ID": "claude"}

// Table finds the programs of processes. The zero Table knows Agents.
type Table struct {
	Agents []string // instead of the package's, unless nil

	mu      sync.Mutex // protects the following
	threads map[uint32]cached
	known   map[Identity]Program
	runs    map[string]Identity // by the value of a variable of sessionEnv
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
	defer t.mu.Unlock()
	if c, ok := t.threads[thread]; ok && now.Before(c.until) {
		return c.Program
	}
	if t.threads == nil || len(t.threads) >= maxKnown {
		t.threads = make(map[uint32]cached)
	}
	p := t.find(processOf(int(thread)))
	t.threads[thread] = cached{p, now.Add(threadTTL)}
	return p
}

// Self returns this program.
func (t *Table) Self() Program {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(os.Getpid())
}

// find returns the program of a process. What was found once stays, whatever becomes of its ancestors.
func (t *Table) find(pid int) Program {
	s, ok := readStat(pid)
	if !ok {
		id := Identity{PID: pid}
		return Program{Identity: id, Run: id}
	}
	return t.program(s, 0)
}

// maxAncestors bounds the walk from a process to the first one.
const maxAncestors = 64

func (t *Table) program(s stat, depth int) Program {
	p, known := t.known[s.Identity]
	if p.Name = s.name; known && (p.Agent != "" || !t.IsAgent(s.name)) { // a process may become an agent by exec(2)
		return p
	}
	p.Identity = s.Identity
	p.Run, p.Agent = t.runOf(s, depth)
	if t.known == nil || len(t.known) >= maxKnown {
		t.known = make(map[Identity]Program)
	}
	t.known[s.Identity] = p
	return p
}

// runOf finds the run of a process, and its agent: those of its parent, unless it is an agent itself, or in a session of
// another terminal than its parent. The system's own processes, and those of other users, have no runs.
func (t *Table) runOf(s stat, depth int) (run Identity, agent string) {
	var parent Program
	above, ok := readStat(s.parent)
	ok = ok && s.parent > 1 && above.uid == s.uid && above.name != "systemd" && depth < maxAncestors
	if ok {
		parent = t.program(above, depth+1)
	}
	variable, by := fromEnvironment(s.PID)
	switch {
	case parent.Agent != "":
		run, agent = parent.Run, parent.Agent
	case t.IsAgent(s.name):
		run, agent = s.Identity, s.name
	case variable != "":
		if run, ok = t.runs[variable]; !ok {
			run = Identity{Start: hashOf(variable)}
		}
		agent = by
	case ok && (s.tty == 0 || s.session == above.session):
		return parent.Run, ""
	default:
		if leader, ok := readStat(s.session); ok {
			return leader.Identity, ""
		}
		return Identity{PID: s.session}, "" // its leader is gone, and its number taken as long as the session is there
	}
	if variable != "" {
		t.remember(variable, run)
	}
	return run, agent
}

func (t *Table) remember(variable string, run Identity) {
	if t.runs == nil || len(t.runs) >= maxKnown {
		t.runs = make(map[string]Identity)
	}
	t.runs[variable] = run
}

// IsAgent reports whether a program with that name is an agent.
func (t *Table) IsAgent(name string) bool {
	list := t.Agents
	if list == nil {
		list = Agents
	}
	return slices.Contains(list, name)
}
