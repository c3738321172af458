package fusefs

import (
	"errors"
	"log/slog"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/fusefs/program"
)

// Options configure a mount. The zero value is a private mount of an empty
// directory.
type Options struct {
	Author string // whom suggestions made through the mount are from
	// SignAgents lets an agent that is recognised (package program) sign with its own name instead.
	SignAgents bool
	Programs   *program.Table // which programs are agents; nil for those of program.Agents
	// SessionNote is the name of the sessions that make changes through the mount, one line; "" leaves them without.
	SessionNote string
	AllowOther  bool // let other users in; needs user_allow_other in /etc/fuse.conf
	NonEmpty    bool // mount over a directory that is not empty, and hide what is in it
	Debug       bool // log every request
	// Poker is the command line of a process that only calls RunPoker. It wakes
	// programs that watch the mount (inotify) when others change notes. Nobody wakes
	// them if Poker is empty.
	Poker  []string
	Logger *slog.Logger // nil discards
	// State is the folder in which inode numbers are kept, so that they are the same in the next process; "" for none.
	State owner.Folder
	// Refused is told what programs were refused for a reason that their errno does not
	// carry. It must not block; nil tells nobody.
	Refused func(model.Refusal)
}

// SetupError says why a directory cannot be mounted or unmounted, and what to
// do about it.
type SetupError struct {
	Problem string // "mountpoint \"/mnt\" is not empty"
	Hint    string // what to type next
	Err     error  // the cause, nil if Problem says it all
}

func (e *SetupError) Error() string {
	if e.Err == nil {
		return e.Problem
	}
	return e.Problem + ": " + e.Err.Error()
}

func (e *SetupError) Unwrap() error { return e.Err }

// Severity says what a finding means for a mount.
type Severity string

const (
	OK   Severity = "ok"
	Warn Severity = "warn" // something that not everybody needs does not work
	Fail Severity = "fail" // nothing can be mounted
)

// Finding is the state of one thing that a mount needs.
type Finding struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Detail   string   `json:"detail"`
	Mend     string   `json:"mend,omitempty"` // what to do about it
}

// finding is OK with detail if err is nil. Otherwise err says what is wrong.
func finding(name, detail string, otherwise Severity, err error) Finding {
	if err == nil {
		return Finding{Name: name, Severity: OK, Detail: detail}
	}
	f := Finding{Name: name, Severity: otherwise, Detail: err.Error()}
	if setup, ok := errors.AsType[*SetupError](err); ok {
		f.Mend = setup.Hint
	}
	return f
}
