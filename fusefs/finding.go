package fusefs

import "errors"

// SetupError says why a directory cannot be mounted or unmounted, and what to
// do about it.
type SetupError struct {
	Problem string // "mountpoint \"/mnt\" is not empty"
	Hint    string // what to type next
	Err     error  // the cause, nil if the problem says it all
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

// Finding is one thing that a mount needs, and how it is here.
type Finding struct {
	Name     string   `json:"name"`
	Severity Severity `json:"severity"`
	Detail   string   `json:"detail"`
	Mend     string   `json:"mend,omitempty"` // what to do about it
}

// finding is good with detail if err is nil, and otherwise what err says.
func finding(name, detail string, otherwise Severity, err error) Finding {
	if err == nil {
		return Finding{Name: name, Severity: OK, Detail: detail}
	}
	f := Finding{Name: name, Severity: otherwise, Detail: err.Error()}
	var setup *SetupError
	if errors.As(err, &setup) {
		f.Mend = setup.Hint
	}
	return f
}
