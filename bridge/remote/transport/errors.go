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

	"github.com/coder/websocket"
)

// Errors about the server wrap one of these; Hint returns what to do.
var (
	ErrUnreachable = errors.New("server cannot be reached")
	ErrDenied      = errors.New("server refuses access")
	ErrNoFolder    = errors.New("server has no such folder")
	ErrProtocol    = errors.New("server does not speak the protocol")
	ErrFailed      = errors.New("server has failed")
	ErrNoDocument  = errors.New("server has no such document")
	ErrExpired     = errors.New("server does not take the token any more")
	ErrSilent      = errors.New("server has stopped answering")
	ErrAudience    = errors.New("its url may not be the audience of the token")
	ErrAstray      = errors.New("server would have the token go elsewhere")
	ErrWouldCreate = errors.New("the folder was not looked up, since this token would create it")
	ErrUntried     = errors.New("neither the token nor the folder was tried: the server takes the token on websockets at most, and one would create the folder")
	ErrServerToken = errors.New("relay-server takes no server token of a key for CBOR tokens (32 bytes, or PEM)")
	ErrKeyID       = errors.New("relay-server takes no key id before a token")
	ErrFileToken   = errors.New("server gives files to tokens of its key only")
	ErrNoChannel   = errors.New("the token names no channel: other clients and webhooks are not told of changes in a note " +
		"that relayfs is the first to open, until relay-server unloads it")
	errOverflow = errors.New("server is too slow: its queue is full")
	// ErrLogin and ErrNotShared wrap ErrDenied: a control plane gives no token.
	ErrLogin     = fmt.Errorf("%w: no login", ErrDenied)
	ErrNotShared = fmt.Errorf("%w: the folder is not shared with this login", ErrDenied)
)

const (
	newToken = "set RELAYFS_TOKEN to a token that is good for the folder and start again"
	giveKey  = "set RELAYFS_SERVER_KEY to a key of the server (32 bytes, or PEM) and start again"
	failed   = "look at the server's log, and whether its disk is full, which cuts documents off; if relay-server says this of one document only, it is to be restored there"
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
	{ErrAstray, "let the server name its own address with TLS (url of relay-server, --url-prefix of y-sweet), or give the address that it names"},
	{ErrWouldCreate, "set RELAYFS_TOKEN to a token for reading, or to the server token, to have it looked up"},
	{ErrUntried, "add \"server\" to allowed_token_types of the key in the server's configuration, or set RELAYFS_SERVER_KEY"},
	{ErrFileToken, giveKey},
	{ErrNoChannel, giveKey},
	{ErrUnreachable, "check the address and that the server runs"},
	{ErrDenied, newToken},
	{ErrExpired, newToken},
	{ErrNoFolder, "check the folder's id in #NAME=ID; with --new-folder the folder is made there"},
	{ErrFailed, failed},
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
	if errors.Is(err, ErrUnreachable) || errors.Is(err, ErrFailed) || errors.Is(err, ErrDenied) || errors.Is(err, ErrExpired) {
		text += "; it is tried again by itself"
	}
	return text
}

// WriteHint returns what to do about a folder that may only be read.
func (a Address) WriteHint() string {
	if a.Kind == Relay {
		return "ask the folder's owner for the right to write, if that is wanted"
	}
	return "set RELAYFS_TOKEN to one that may write and start again, if that is wanted"
}

func connectionError(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		err = sent.Err // the rest quotes the URL, with its token
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, ErrAstray):
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
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err.Error() // without the name of the call
	}
	var opErr *net.OpError
	if errors.As(err, &opErr) {
		return opErr.Err.Error()
	}
	return err.Error()
}

// status is the HTTP status in an error.
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

// maxSaid bounds what is repeated of an answer, in bytes.
const maxSaid = 300

// said returns the beginning of a failed answer on one line, without the token of the request.
func said(resp *http.Response) string {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, maxSaid)) // what came before an error is enough
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(data), "")), " ")
	if strings.HasPrefix(text, "<") {
		return "" // a page for browsers
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
