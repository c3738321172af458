package cli

import "fmt"

// UsageError is a wrong command line.
type UsageError struct{ error }

func (e *UsageError) Unwrap() error { return e.error }

// Usage returns err as a UsageError.
func Usage(err error) error { return &UsageError{err} }

// Usagef returns a new UsageError.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// HintError is an error with what to do next.
type HintError struct {
	error
	// Hint is what to type or to change.
	Hint string
}

func (e *HintError) Unwrap() error { return e.error }

// WithHint returns err as a HintError.
func WithHint(err error, hint string) error { return &HintError{err, hint} }
