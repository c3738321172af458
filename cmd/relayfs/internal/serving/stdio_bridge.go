package serving

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/relayfs/relayfs/bridge/model"
	"github.com/relayfs/relayfs/bridge/owner"
	"github.com/relayfs/relayfs/cmd/relayfs/internal/ports"
	"github.com/relayfs/relayfs/mcpserver"
)

// stdioBridge passes the JSON-RPC messages of one MCP client to a server, in their order. If the server ends, another
// server replaces it.
type stdioBridge struct {
	// connect returns a client of a server. missing is the time for which there has been no server.
	connect func(ctx context.Context, missing time.Duration) (*owner.Client, error)
	client  mcpserver.Client
	log     *slog.Logger

	writing sync.Mutex // guards the field below
	out     io.Writer

	// Only the goroutine of run uses the fields below.
	current    *mcpSession // nil while there is no server
	endedAt    time.Time   // when the last session ended
	handshake  []message
	subscribed map[string]message // subscription requests of the client, by URI
}

// mcpSession is the connection to one server (transport.Local).
type mcpSession struct {
	in     *io.PipeWriter
	opened chan struct{}
	ended  chan struct{}
	err    error // set before ended is closed; if it is nil, the server did not execute the pending requests

	mu      sync.Mutex // guards the field below
	pending []message  // the requests without a response
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`
	line   []byte
	hidden bool // the client does not get the response
	again  bool // the request was sent to another server before, which did not execute it
}

func parse(line []byte) message {
	var m message
	_ = json.Unmarshal(line, &m) // the server refuses invalid messages
	m.line = line
	return m
}

func (m message) isRequest() bool { return m.ID != nil && m.Method != "" }

// isAnsweredBy compares the IDs of messages. A server may write an ID in another way than the client.
func (m message) isAnsweredBy(answer message) bool {
	var asked, answered any
	_ = json.Unmarshal(m.ID, &asked)
	_ = json.Unmarshal(answer.ID, &answered)
	return answer.Method == "" && fmt.Sprintf("%#v", asked) == fmt.Sprintf("%#v", answered)
}

// run passes on messages until the input ends, and then waits for the last responses.
func (b *stdioBridge) run(ctx context.Context, in io.Reader) error {
	lines, failed := linesOf(ctx, in)
	for lines != nil || b.current != nil {
		var ended chan struct{}
		if b.current != nil {
			ended = b.current.ended
			if lines == nil {
				b.current.in.Close()
			}
		}
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			err = b.settle(ctx)
		case line, open := <-lines:
			if open {
				err = b.forward(ctx, parse(line))
			} else if lines = nil; errors.Is(failed(), bufio.ErrTooLong) {
				err = fmt.Errorf("a message of the client is longer than %d MiB", mcpserver.MaxMessage>>20)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// linesOf reads the lines of r that are not blank, in a goroutine because a read cannot be cancelled. It closes the
// channel at the end of r, or at the first line after the end of ctx. After that, failed returns the error of r.
func linesOf(ctx context.Context, r io.Reader) (lines <-chan []byte, failed func() error) {
	out := make(chan []byte)
	sc := mcpserver.Lines(r)
	go func() {
		defer close(out)
		for sc.Scan() {
			if len(bytes.TrimSpace(sc.Bytes())) == 0 {
				continue
			}
			select {
			case out <- bytes.Clone(sc.Bytes()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, sc.Err
}

// forward sends a message to the server. If there is no server, it answers a request with an error. It returns only
// errors of the connection to the client.
func (b *stdioBridge) forward(ctx context.Context, m message) error {
	if err := b.ensureUpstream(ctx); err != nil {
		return b.fail(m, unreachable(err))
	}
	switch m.Method {
	case "initialize":
		b.handshake = []message{m}
	case "notifications/initialized":
		b.handshake = append(b.handshake, m)
	case "resources/subscribe":
		b.subscribed[m.Params.URI] = m
	case "resources/unsubscribe":
		delete(b.subscribed, m.Params.URI)
	}
	b.current.send(m)
	return nil
}

// settle is called after the end of the current session. It sends the pending requests to the next server, except those
// that the ended server may have executed.
func (b *stdioBridge) settle(ctx context.Context) error {
	s := b.current
	b.current, b.endedAt = nil, time.Now()
	for _, m := range s.pending {
		var err error
		switch {
		case s.err != nil:
			err = b.fail(m, unknownOutcome(s.err))
		case m.again:
			err = b.fail(m, unreachable(errNoOwner))
		default:
			m.again = true
			err = b.forward(ctx, m)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func unreachable(err error) (text string) {
	return fmt.Sprintf("The notes cannot be reached: %v. Nothing was changed. Wait a few seconds and try again; then read a document again before you edit it.", err)
}

// unknownOutcome returns the error for a request that a server may have executed.
func unknownOutcome(err error) (text string) {
	if _, stopped := errors.AsType[*owner.StoppedError](err); stopped {
		return fmt.Sprintf("There is no answer: %v. It is unknown whether anything was changed. Try again when that process is running again; read the document first.", err)
	}
	return "The relayfs process that serves the notes ended before it answered. It is unknown whether anything was changed. Wait a few seconds, then read the document again."
}

// ensureUpstream starts a session if there is none, and repeats the handshake and the subscriptions in it.
func (b *stdioBridge) ensureUpstream(ctx context.Context) error {
	if b.current != nil {
		return nil
	}
	server, err := b.connect(ctx, time.Since(b.endedAt))
	if err == nil {
		err = b.open(ctx, server)
	}
	if err != nil {
		return err
	}
	repeated := slices.Clone(b.handshake)
	for _, uri := range slices.Sorted(maps.Keys(b.subscribed)) {
		repeated = append(repeated, b.subscribed[uri])
	}
	for _, m := range repeated {
		m.hidden = true
		b.current.send(m)
	}
	return nil
}

// open starts a session.
func (b *stdioBridge) open(ctx context.Context, server *owner.Client) error {
	r, w := io.Pipe()
	s := &mcpSession{in: w, opened: make(chan struct{}), ended: make(chan struct{})}
	server.Idle = s.isIdle
	go func() {
		defer close(s.ended)
		defer r.Close()
		s.err = server.Do(ctx, http.MethodPost, ports.MCPPath, b.client.Query(), nil, r, func(resp *http.Response) error {
			close(s.opened)
			return b.follow(s, resp.Body)
		})
	}()
	select {
	case <-s.ended:
		return s.err
	case <-s.opened:
		b.current = s
		return nil
	}
}

// follow passes the messages of the server to the client.
func (b *stdioBridge) follow(s *mcpSession, r io.Reader) error {
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadBytes('\n')
		if err == nil && len(line) == 1 { // the server has finished the session
			return nil
		}
		if err == nil && !s.finish(parse(line)).hidden {
			err = b.send(line)
		}
		if err != nil {
			return err
		}
	}
}

// isIdle reports whether the client waits for no response.
func (s *mcpSession) isIdle() bool {
	select {
	case <-s.opened:
	default:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pending) == 0
}

func (s *mcpSession) send(m message) {
	if m.isRequest() {
		s.mu.Lock()
		s.pending = append(s.pending, m)
		s.mu.Unlock()
	}
	_, _ = s.in.Write(append(m.line, '\n')) // if this fails, the session has ended
}

// finish returns the request with the given response. It returns no request for another message of the server.
func (s *mcpSession) finish(answer message) (asked message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.pending, func(m message) bool { return m.isAnsweredBy(answer) }); i >= 0 {
		asked = s.pending[i]
		s.pending = slices.Delete(s.pending, i, i+1)
	}
	return asked
}

// fail answers a request with an error.
func (b *stdioBridge) fail(m message, text string) error {
	b.log.Debug("no response to a message", model.LogErr, text)
	if !m.isRequest() || m.hidden {
		return nil
	}
	return b.send(errorAnswer(m, text))
}

// send writes a line to the client.
func (b *stdioBridge) send(line []byte) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	_, err := b.out.Write(line)
	return err
}

const serverGone = -32000

// errorAnswer returns the response to a failed request. For a tool call the response is a tool result with the error,
// because models read only results.
func errorAnswer(m message, text string) []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "tools/call" {
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": true}
	} else {
		answer["error"] = map[string]any{"code": serverGone, "message": text}
	}
	line, _ := json.Marshal(answer) // cannot fail, because the ID was decoded from JSON
	return append(line, '\n')
}
