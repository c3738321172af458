package transport

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/coder/websocket"
)

// Reasons why there is no connection: an error about the server wraps one of them,
// and Hint says what to do.
var (
	// ErrUnreachable: nobody answers there. It is tried again.
	ErrUnreachable = errors.New("server cannot be reached")
	// ErrDenied: the server does not take the token.
	ErrDenied = errors.New("server refuses access")
	// ErrNoFolder: the server has no folder document of that name.
	ErrNoFolder = errors.New("server has no such folder")
	// ErrProtocol: what the server says is not the protocol.
	ErrProtocol = errors.New("server does not speak the protocol")
	// ErrNoDocument: it has no document of that name.
	ErrNoDocument = errors.New("server has no such document")
	// errOverflow: the server takes in less than there is to be sent.
	errOverflow = errors.New("server is too slow: its queue is full")
	// ErrExpired: the server wants another token.
	ErrExpired = errors.New("server does not take the token any more")
	// ErrSilent: nothing came for too long.
	ErrSilent = errors.New("server has stopped answering")
)

const newToken = "set RELAYFS_TOKEN to a token that is good for the folder and start again"

// hints say what to type next.
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

// Hint is the next step after an error of this package, "" if there is none.
func Hint(err error) string {
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return h.hint
		}
	}
	return ""
}

// Explain makes a sentence of an error: what is the matter with which server,
// and what to do.
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

// connectionError sorts an error of the network or of a websocket.
func connectionError(err error) error {
	var netErr net.Error
	var opErr *net.OpError
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case websocket.CloseStatus(err) == websocket.StatusPolicyViolation:
		return fmt.Errorf("%w: %v", ErrExpired, closeReason(err))
	case errors.As(err, &opErr), errors.As(err, &netErr), websocket.CloseStatus(err) != -1:
		return fmt.Errorf("%w: %v", ErrUnreachable, closeReason(err))
	}
	return err
}

// closeReason is what the server said when it closed, or the innermost reason of
// a network error: the rest only repeats the address.
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
