package fusefs

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
