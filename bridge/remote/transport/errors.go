package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"unicode"

	"github.com/coder/websocket"
)

// All errors about the server wrap one of the following errors. Hint returns the next step.
var (
	ErrUnreachable    = errors.New("server cannot be reached")
	ErrDenied         = errors.New("server refuses access")
	ErrNoFolder       = errors.New("server has no such folder")
	ErrProtocol       = errors.New("server does not speak the protocol")
	ErrFailed         = errors.New("server has failed")
	ErrNoDocument     = errors.New("server has no such document")
	ErrExpired        = errors.New("server no longer accepts the token")
	ErrSilent         = errors.New("server has stopped answering")
	ErrAudience       = errors.New("the url of the server may differ from the audience of the token")
	ErrUnsafeRedirect = errors.New("server would send the token elsewhere")
	ErrWouldCreate    = errors.New("the folder was not looked up, because a lookup with this token would create it")
	ErrUntried        = errors.New("neither the token nor the folder was checked: the server may accept the token only on a websocket, which would create the folder")
	ErrServerToken    = errors.New("relay-server accepts no server token made with a key for CBOR tokens (32 bytes, or PEM)")
	ErrKeyID          = errors.New("relay-server accepts no key id before a token")
	ErrFileToken      = errors.New("server serves files only to tokens made with its key")
	ErrNoChannel      = errors.New("the token has no channel: if relayfs is the first to open a note, other clients and webhooks " +
		"do not get its changes until relay-server unloads the note")
	errOverflow = errors.New("server is too slow: its queue is full")
	// ErrLogin and ErrNotShared wrap ErrDenied. They mean that the control plane issues no token.
	ErrLogin     = fmt.Errorf("%w: no login", ErrDenied)
	ErrNotShared = fmt.Errorf("%w: the folder is not shared with this login", ErrDenied)
)

const (
	newToken = "set RELAYFS_TOKEN to a token that is valid for the folder and start again"
	giveKey  = "set RELAYFS_SERVER_KEY to a key of the server (32 bytes, or PEM) and start again"
	failed   = "check the server's log and disk space: a full disk truncates documents; if relay-server reports this for one document only, restore that document on the server"
)

var hints = []struct {
	err  error
	hint string
}{
	{ErrLogin, "run 'relayfs login'"},
	{ErrNotShared, "'relayfs folders' lists what is shared with you; ask the folder's owner"},
	{ErrKeyID, "leave out the ID. before the key in RELAYFS_SERVER_KEY, or before the token in RELAYFS_TOKEN, and start again"},
	{ErrServerToken, giveKey},
	{ErrAudience, "set RELAYFS_SERVER_AUDIENCE to the url in the server's configuration, byte for byte, and check RELAYFS_SERVER_KEY: a key of 32 bytes or PEM whose [[auth]] entry has a key_id is given as KEY_ID.KEY"},
	{ErrUnsafeRedirect, "make the server use its own address with TLS (url of relay-server, --url-prefix of y-sweet), or use the address that it names"},
	{ErrWouldCreate, "set RELAYFS_TOKEN to a read-only token, or to the server token, so that relayfs can look up the folder"},
	{ErrUntried, "add \"server\" to allowed_token_types of the key in the server's configuration, or set RELAYFS_SERVER_KEY"},
	{ErrFileToken, giveKey},
	{ErrNoChannel, giveKey},
	{ErrUnreachable, "check the address, and that the server is running"},
	{ErrDenied, newToken},
	{ErrExpired, newToken},
	{ErrNoFolder, "check the folder's id in #NAME=ID; with --new-folder relayfs creates the folder there"},
	{ErrFailed, failed},
	{ErrProtocol, "check that the address is that of a server of this kind"},
}

// Hint returns the next step after an error of this package, or "" if there is none.
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
	if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrFailed) || errors.Is(err, ErrDenied) || errors.Is(err, ErrExpired) {
		text += "; relayfs retries automatically"
	}
	return text
}

func (a Address) WriteHint() string {
	if a.Kind == Relay {
		return "ask the folder's owner for write access if you need it"
	}
	return "to write, set RELAYFS_TOKEN to a token with write access and start again"
}

// ConnectionError returns an error of a request in the words of this package, without the address and its token.
func ConnectionError(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err // drops the rest, which quotes the URL with its token
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrUnsafeRedirect):
		return err
	case websocket.CloseStatus(err) == websocket.StatusPolicyViolation:
		return fmt.Errorf("%w: %v", ErrExpired, closeReason(err))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it closed the connection", ErrUnreachable)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: no answer in time", ErrUnreachable)
	}
	return fmt.Errorf("%w: %v", ErrUnreachable, closeReason(err))
}

// closeReason returns the server's reason for closing the connection, or the innermost reason of a network error. The
// rest of the error only repeats the address.
func closeReason(err error) string {
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		if closed.Reason != "" {
			return Said(closed.Reason)
		}
		return fmt.Sprintf("it closed the connection with code %d", closed.Code)
	}
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err.Error() // drops the name of the system call
	}
	var opErr *net.OpError
	if errors.As(err, &opErr) {
		return opErr.Err.Error()
	}
	return err.Error()
}

type status int

func (s status) Error() string { return fmt.Sprintf("%d %s", int(s), http.StatusText(int(s))) }

func statusError(resp *http.Response) error {
	err := ErrProtocol
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		err = ErrDenied
	case code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout, code == http.StatusTooManyRequests:
		err = ErrUnreachable
	case code >= http.StatusInternalServerError:
		if text := said(resp); text != "" {
			return fmt.Errorf("%w (%w: %q)", ErrFailed, status(code), text)
		}
		err = ErrFailed
	}
	return fmt.Errorf("%w (%w)", err, status(resp.StatusCode))
}

// maxSaid is the maximum length in bytes of the quoted part of an answer.
const maxSaid = 300

// Said returns the beginning of a text from a server on one line, without control characters.
func Said(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), maxSaid)], "")
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// said returns the beginning of the answer to a failed request on one line, without the request's token.
func said(resp *http.Response) string {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaid)) // the bytes before a read error are sufficient
	text := Said(string(data))
	if strings.HasPrefix(text, "<") {
		return "" // the answer is an HTML page
	}
	if r := resp.Request; r != nil {
		bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		for _, secret := range []string{bearer, r.URL.Query().Get("token")} {
			if secret != "" {
				text = strings.ReplaceAll(text, secret, "...")
			}
		}
	}
	return text
}
