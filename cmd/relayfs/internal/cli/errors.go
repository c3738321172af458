package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// UsageError is the error of an invalid command line. Its exit code is 2.
type UsageError struct{ error }

func (e *UsageError) Unwrap() error { return e.error }

func Usage(err error) error { return &UsageError{err} }

func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

type HintError struct {
	error
	Hint string
}

func (e *HintError) Unwrap() error { return e.error }

func WithHint(err error, hint string) error { return &HintError{err, hint} }

// Text returns err as a sentence for users. It rewrites the errors of Go's libraries, such as "open /x: permission
// denied" or "invalid character '}'", which name a system call or a parser instead of the user's file.
func Text(err error) string {
	text := err.Error()
	walk(err, func(part error) {
		if words := sentence(part); words != "" {
			text = strings.ReplaceAll(text, part.Error(), words)
		}
	})
	return text
}

func walk(err error, fn func(error)) {
	if err == nil {
		return
	}
	fn(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		walk(e.Unwrap(), fn)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			walk(part, fn)
		}
	}
}

func sentence(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return fmt.Sprintf("%q: %v", e.Path, e.Err)
	case *os.LinkError:
		return fmt.Sprintf("%q cannot become %q: %v", e.Old, e.New, e.Err)
	case *os.SyscallError:
		return e.Err.Error()
	case *net.OpError:
		if e.Addr == nil {
			return e.Err.Error()
		}
		return fmt.Sprintf("%v: %v", e.Addr, e.Err)
	case *net.DNSError:
		return fmt.Sprintf("unknown host %q", e.Name)
	case *url.Error:
		return fmt.Sprintf("%s: %v", e.URL, e.Err)
	case *exec.Error:
		return fmt.Sprintf("the program %q cannot be started: %v", e.Name, e.Err)
	case *strconv.NumError:
		return fmt.Sprintf("%q is not a number", e.Num)
	case *json.SyntaxError:
		return fmt.Sprintf("not valid JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		if e.Field == "" {
			return "it must not be a JSON " + e.Value
		}
		return fmt.Sprintf("%q must not be a JSON %s", e.Field, e.Value)
	}
	switch err {
	case exec.ErrNotFound:
		return "it is not installed"
	case io.ErrUnexpectedEOF:
		return "it is incomplete"
	}
	return ""
}
