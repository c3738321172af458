package fusefs

import (
	"errors"
	"log/slog"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/fusefs/internal/program"
)

// Options configure a mount. With the zero value, the mountpoint must be empty, and only the user who
// mounts it has access.
type Options struct {
	Author string // author of suggestions made through the mount
	// Agents are the names of the programs that count as agents. If a process has such a name (/proc/PID/comm), the
	// process and everything that it starts is an agent's run.
	Agents     []string
	SignAgents bool // agents sign with their own names instead of Author
	AllowOther bool // give other users access; needs user_allow_other in /etc/fuse.conf
	Debug      bool // log every request
	// WatchNotifier is the command line of a process that only calls RunWatchNotifier. That process wakes programs that
	// watch the mount (inotify) when others change notes. If WatchNotifier is empty, such programs are not woken.
	WatchNotifier []string
	Logger        *slog.Logger // nil discards the log
	// Refused is called for refused operations whose errno does not express the reason, and for failed saves. It must
	// not block, and may be nil.
	Refused func(model.Refusal)
}

// DefaultAgents are the names of known agents, for Options.Agents.
var DefaultAgents = []string{"aider", "amp", "claude", "codex", "copilot", "crush", "cursor-agent", "gemini", "goose", "opencode", "qwen"}

// Run is all work that one program was started to do.
type Run struct {
	PID     int    // the first process of the run
	Agent   string // the agent to which the run belongs; "" for a user's run
	Session string // the session of the run's changes on a mount
}

// OwnRun returns the run of this process. agents are the names of the programs that count as agents.
func OwnRun(agents []string) Run {
	self := (&program.Table{Agents: agents}).Self()
	return Run{PID: self.Run.PID, Agent: self.Agent, Session: self.Session()}
}

// SetupError explains why a directory cannot be mounted or unmounted, with the next step.
type SetupError struct {
	Problem string // for example "mountpoint \"/mnt\" is not empty"
	Hint    string // what the user should do next
	Err     error  // the cause; nil if Problem says everything
}

func (e *SetupError) Error() string {
	if e.Err == nil {
		return e.Problem
	}
	return e.Problem + ": " + e.Err.Error()
}

func (e *SetupError) Unwrap() error { return e.Err }

type Severity string

const (
	OK   Severity = "ok"
	Warn Severity = "warn" // a feature that not every user needs does not work
	Fail Severity = "fail" // nothing can be mounted
)

type Finding struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Detail   string   `json:"detail"`
	Fix      string   `json:"mend,omitempty"` // the next step
}

func finding(name, detail string, otherwise Severity, err error) Finding {
	if err == nil {
		return Finding{Name: name, Severity: OK, Detail: detail}
	}
	f := Finding{Name: name, Severity: otherwise, Detail: err.Error()}
	if setup, ok := errors.AsType[*SetupError](err); ok {
		f.Fix = setup.Hint
	}
	return f
}
