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

// Text returns what err says to people. What Go's libraries say of system calls and formats, as in "open /x: permission
// denied" or "invalid character '}'", becomes words about the thing itself.
func Text(err error) string {
	text := err.Error()
	each(err, func(part error) {
		if words := inWords(part); words != "" {
			text = strings.ReplaceAll(text, part.Error(), words)
		}
	})
	return text
}

// each calls fn for err and what it wraps, the outermost first.
func each(err error, fn func(error)) {
	if err == nil {
		return
	}
	fn(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		each(e.Unwrap(), fn)
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			each(part, fn)
		}
	}
}

// inWords returns what an error of a library means, "" for other errors.
func inWords(err error) string {
	switch e := err.(type) {
	case *fs.PathError:
		return fmt.Sprintf("%q: %v", e.Path, e.Err)
	case *os.LinkError:
		return fmt.Sprintf("%q, to be %q: %v", e.Old, e.New, e.Err)
	case *os.SyscallError:
		return e.Err.Error()
	case *net.OpError:
		if e.Addr == nil {
			return e.Err.Error()
		}
		return fmt.Sprintf("%v: %v", e.Addr, e.Err)
	case *net.DNSError:
		return fmt.Sprintf("the host %q is not known", e.Name)
	case *url.Error:
		return fmt.Sprintf("%s: %v", e.URL, e.Err)
	case *exec.Error:
		return fmt.Sprintf("the program %q cannot be started: %v", e.Name, e.Err)
	case *strconv.NumError:
		return fmt.Sprintf("%q is no number", e.Num)
	case *json.SyntaxError:
		return fmt.Sprintf("not valid JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		if e.Field == "" {
			return "it may not be a JSON " + e.Value
		}
		return fmt.Sprintf("%q may not be a JSON %s", e.Field, e.Value)
	}
	switch err {
	case exec.ErrNotFound:
		return "it is not installed"
	case io.ErrUnexpectedEOF:
		return "it ends too early"
	}
	return ""
}
