package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// Errors about the server wrap one of these; Hint returns what to do.
var (
	ErrUnreachable = errors.New("server cannot be reached")
	ErrDenied      = errors.New("server refuses access")
	ErrNoFolder    = errors.New("server has no such folder")
	ErrProtocol    = errors.New("server does not speak the protocol")
	ErrNoDocument  = errors.New("server has no such document")
	ErrExpired     = errors.New("server does not take the token any more")
	ErrSilent      = errors.New("server has stopped answering")
	errOverflow    = errors.New("server is too slow: its queue is full")
)

const newToken = "set RELAYFS_TOKEN to a token that is good for the folder and start again"

var hints = []struct {
	err  error
	hint string
}{
	{ErrUnreachable, "check the address and that the server runs"},
	{ErrDenied, newToken},
	{ErrExpired, newToken},
	{ErrNoFolder, "check the folder's id in --folder NAME=ID"},
	{ErrProtocol, "check that the address is that of a server of this kind"},
}

// Hint returns the next step after an error of this package, "" for none.
func Hint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return h.hint
		}
	}
	return ""
}

// Explain returns a sentence about an error: the server, the problem, the next step.
func (a Address) Explain(err error) string {
	text := fmt.Sprintf("%s: %v", a, err)
	if hint := Hint(err); hint != "" {
		text += "; " + hint
	}
	if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrDenied) || errors.Is(err, ErrExpired) {
		text += "; it is tried again by itself"
	}
	return text
}

func connectionError(err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case websocket.CloseStatus(err) == websocket.StatusPolicyViolation:
		return fmt.Errorf("%w: %v", ErrExpired, closeReason(err))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it closed the connection", ErrUnreachable)
	}
	return fmt.Errorf("%w: %v", ErrUnreachable, closeReason(err))
}

// closeReason returns the server's reason to close, or the innermost reason of a network
// error: the rest only repeats the address.
func closeReason(err error) string {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		if closed.Reason != "" {
			return closed.Reason
		}
		return fmt.Sprintf("it closed the connection with code %d", closed.Code)
	}
	var opErr *net.OpError
	if errors.As(err, &opErr) {
		return opErr.Err.Error()
	}
	return err.Error()
}

func statusError(resp *http.Response) error {
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w (%s)", ErrDenied, resp.Status)
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusTooManyRequests:
		return fmt.Errorf("%w (%s)", ErrUnreachable, resp.Status)
	}
	return fmt.Errorf("%w (%s)", ErrProtocol, resp.Status)
}
