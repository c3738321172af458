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

	writing sync.Mutex // guards out
	out     io.Writer

	waker   chan struct{}           // gets a value when await must look again
	lost    context.CancelCauseFunc // ends run with an error of the connection to the client
	workers sync.WaitGroup          // goroutines that write to out

	mu         sync.Mutex  // guards the fields below
	queue      []*message  // messages that no server has received
	inputEnd   error       // set when the client sends nothing more; io.EOF at the end of the input
	current    *mcpSession // nil while there is no server
	last       *mcpSession // the newest session
	endedAt    time.Time   // when the last session ended
	handshake  [][]byte
	subscribed map[string][]byte // subscription requests of the client, by URI
}

func newStdioBridge(connect func(context.Context, time.Duration) (*owner.Client, error), client mcpserver.Client, log *slog.Logger, out io.Writer) *stdioBridge {
	return &stdioBridge{connect: connect, client: client, log: log, out: out, waker: make(chan struct{}, 1), subscribed: make(map[string][]byte)}
}

type mcpSession struct {
	server   *owner.Client
	stream   owner.Stream
	ended    chan struct{} // closed after the server's last message
	requests []*message    // requests that were sent and not answered; guarded by the bridge's mu
}

// message is a message of the client.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		URI       string          `json:"uri"`
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`

	line     []byte
	sent     int           // number of servers to which it was sent
	answered chan struct{} // closed after the response to a request

	cancelled bool // the client has cancelled the request; guarded by the bridge's mu
}

func newMessage(line []byte) *message {
	m := &message{line: line, answered: make(chan struct{})}
	_ = json.Unmarshal(line, m) // the server refuses invalid messages
	return m
}

func (m *message) isRequest() bool { return m.ID != nil && m.Method != "" }

// isID reports whether two IDs are equal. A server may write the same number in another form.
func isID(a, b json.RawMessage) bool {
	var x, y any
	return bytes.Equal(a, b) || json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && fmt.Sprintf("%T %v", x, x) == fmt.Sprintf("%T %v", y, y)
}

// run passes on messages until the input ends, and then waits for the last responses. server is the first server.
func (b *stdioBridge) run(ctx context.Context, in io.Reader, server *owner.Client) error {
	ctx, b.lost = context.WithCancelCause(ctx)
	defer b.workers.Wait()
	defer b.lost(nil)
	if _, err := b.open(ctx, server); ctx.Err() != nil {
		return clientLost(ctx)
	} else if err != nil {
		return err
	}
	go b.read(in) // a read cannot be cancelled
	for {
		more := b.await(ctx)
		switch {
		case ctx.Err() != nil:
			return clientLost(ctx)
		case more:
			b.deliver(ctx)
		case !b.finish(ctx):
			b.workers.Wait()
			if errors.Is(b.inputEnd, bufio.ErrTooLong) {
				return fmt.Errorf("a message of the client is longer than %d MiB", mcpserver.MaxMessage>>20)
			}
			return nil
		}
	}
}

// clientLost returns the error of the connection to the client. It returns nil if ctx ended for another reason.
func clientLost(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// read reads the client's messages. It reads on while messages wait, because a request in progress may need the client's
// answer to a question.
func (b *stdioBridge) read(in io.Reader) {
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 0, 64<<10), mcpserver.MaxMessage)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) > 0 {
			b.enqueue(newMessage(bytes.Clone(sc.Bytes())))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.inputEnd = sc.Err(); b.inputEnd == nil {
		b.inputEnd = io.EOF
	}
	b.wake()
}

// enqueue adds a message to the queue. If m cancels a request in the queue, it removes that request instead. It notes
// that a request which was sent is cancelled, because the server may not have received it.
func (b *stdioBridge) enqueue(m *message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.Method == "notifications/cancelled" {
		isIt := func(q *message) bool { return q.isRequest() && isID(q.ID, m.Params.RequestID) }
		before := len(b.queue)
		if b.queue = slices.DeleteFunc(b.queue, isIt); len(b.queue) < before {
			return
		}
		if i := slices.IndexFunc(b.last.requests, isIt); i >= 0 {
			b.last.requests[i].cancelled = true
		}
	}
	b.queue = append(b.queue, m)
	b.wake()
}

func (b *stdioBridge) wake() {
	select {
	case b.waker <- struct{}{}:
	default:
	}
}

// await returns true when there are messages in the queue. It returns false when the input has ended.
func (b *stdioBridge) await(ctx context.Context) bool {
	for {
		b.mu.Lock()
		more, ended := len(b.queue) > 0, b.inputEnd != nil
		b.mu.Unlock()
		if more || ended {
			return more
		}
		select {
		case <-b.waker:
		case <-ctx.Done():
			return false
		}
	}
}

// deliver sends the first message of the queue to the server.
func (b *stdioBridge) deliver(ctx context.Context) {
	s, err := b.upstream(ctx)
	m := b.take(s)
	switch {
	case m == nil:
	case err != nil:
		b.fail(ctx, m, unreachableErr(err))
	default:
		if m.isRequest() && m.Method != "subscriptions/listen" {
			b.workers.Go(func() { b.attend(ctx, s, m) })
		}
		if s.write(m.line) != nil {
			<-s.ended // follow decides what becomes of the message
		}
	}
}

// take removes the first message from the queue, to send it in the session s or, if s is nil, to refuse it. It returns
// nil if the session has ended, or if the client has cancelled the last request of the queue.
func (b *stdioBridge) take(s *mcpSession) *message {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 || b.current != s {
		return nil
	}
	m := b.queue[0]
	b.queue = b.queue[1:]
	switch {
	case s == nil:
	case m.isRequest():
		m.sent++
		s.requests = append(s.requests, m)
	case m.Method == "notifications/initialized":
		b.handshake = append(b.handshake, m.line)
	}
	return m
}

// finish ends the session when the server has answered all messages. It returns false if there is no session.
func (b *stdioBridge) finish(ctx context.Context) bool {
	b.mu.Lock()
	s := b.current
	b.mu.Unlock()
	if s == nil {
		return false
	}
	_ = s.stream.CloseWrite() // this fails only if the session has ended
	select {
	case <-s.ended:
	case <-ctx.Done():
	}
	return true
}

// upstream returns the current session, or starts one after the end of the last one, whose unread messages come first.
func (b *stdioBridge) upstream(ctx context.Context) (*mcpSession, error) {
	b.mu.Lock()
	s, last, lost := b.current, b.last, b.endedAt
	b.mu.Unlock()
	if s != nil {
		return s, nil
	}
	select {
	case <-last.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	server, err := b.connect(ctx, time.Since(lost))
	if err != nil {
		return nil, err
	}
	return b.open(ctx, server)
}

// open starts a session. It repeats the client's handshake and subscriptions.
func (b *stdioBridge) open(ctx context.Context, server *owner.Client) (*mcpSession, error) {
	stream, err := server.Open(ctx, ports.MCPPath, b.client.Query(), mcpserver.LocalProtocol)
	if err != nil {
		return nil, err
	}
	s := &mcpSession{server: server, stream: stream, ended: make(chan struct{})}
	b.mu.Lock()
	b.current, b.last = s, s
	repeated := slices.Clone(b.handshake)
	for _, uri := range slices.Sorted(maps.Keys(b.subscribed)) {
		repeated = append(repeated, b.subscribed[uri])
	}
	b.mu.Unlock()
	b.workers.Go(func() { b.follow(ctx, s) })
	for _, line := range repeated {
		_ = s.write(line) // if the session has ended, the next one repeats the messages
	}
	return s, nil
}

func (s *mcpSession) write(line []byte) error {
	_, err := s.stream.Write(append(line, '\n'))
	return err
}

// follow passes the messages of a server to the client until the session ends. An empty line means that the server has
// answered all requests that it has received.
func (b *stdioBridge) follow(ctx context.Context, s *mcpSession) {
	defer close(s.ended)
	stop := context.AfterFunc(ctx, func() { s.stream.Close() })
	defer stop()
	var err error
	complete := false
	for r := bufio.NewReader(s.stream); err == nil; {
		var line []byte
		line, err = r.ReadBytes('\n')
		switch {
		case err != nil:
		case len(line) == 1:
			complete = true
		case b.isWanted(s, line):
			if failed := b.send(line); failed != nil {
				b.lost(failed)
			}
		}
	}
	s.stream.Close()
	for _, m := range b.leave(s, complete) {
		b.fail(ctx, m, unknownOutcomeErr(err))
	}
}

// isWanted reports whether line is for the client. It removes the request that line answers, and remembers it if the next
// server needs it. The responses to repeated messages are not for the client.
func (b *stdioBridge) isWanted(s *mcpSession, line []byte) bool {
	var answer message
	if json.Unmarshal(line, &answer) != nil || answer.Method != "" || answer.ID == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(s.requests, func(m *message) bool { return isID(m.ID, answer.ID) })
	if i < 0 {
		return string(answer.ID) == "null" // the answer to an invalid message
	}
	m := s.requests[i]
	s.requests = slices.Delete(s.requests, i, i+1)
	close(m.answered)
	switch m.Method {
	case "initialize":
		b.handshake = [][]byte{m.line}
	case "resources/subscribe":
		b.subscribed[m.Params.URI] = m.line
	case "resources/unsubscribe":
		delete(b.subscribed, m.Params.URI)
	}
	return true
}

// detach makes the bridge send further messages to another server. The current server still answers the messages that
// it has received.
func (b *stdioBridge) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current, b.endedAt = nil, time.Now()
}

// leave makes the bridge use another server. complete is set if the server has answered all requests that it has
// received; leave puts the others back into the queue. It returns the requests that are not sent again.
func (b *stdioBridge) leave(s *mcpSession, complete bool) (failed []*message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.current == s {
		b.current, b.endedAt = nil, time.Now()
	}
	var again []*message
	for _, m := range s.requests {
		switch {
		case m.cancelled:
		case complete && m.sent == 1:
			again = append(again, m)
		default:
			failed = append(failed, m)
		}
	}
	s.requests = nil
	b.queue = append(again, b.queue...)
	b.wake()
	return failed
}

// attend waits for the response to a request. If the server's process is stopped, attend answers the request.
func (b *stdioBridge) attend(ctx context.Context, s *mcpSession, m *message) {
	err := s.server.Attend(ctx, func(ctx context.Context) error {
		select {
		case <-m.answered:
		case <-s.ended:
		case <-ctx.Done():
		}
		return ctx.Err()
	})
	if _, ended := errors.AsType[*owner.EndedError](err); err == nil || ended { // follow reports the end
		return
	}
	b.mu.Lock()
	i := slices.Index(s.requests, m)
	if i >= 0 {
		s.requests = slices.Delete(s.requests, i, i+1)
	}
	b.mu.Unlock()
	if i >= 0 {
		b.fail(ctx, m, unknownOutcomeErr(err))
	}
}

func unreachableErr(err error) string {
	return fmt.Sprintf("The notes cannot be reached: %v. Nothing was changed. Wait a few seconds and try again; then read a document again before you edit it.", err)
}

// unknownOutcomeErr returns the error for a request that a server may have executed.
func unknownOutcomeErr(err error) string {
	if _, stopped := errors.AsType[*owner.StoppedError](err); stopped {
		return fmt.Sprintf("There is no answer: %v. It is unknown whether anything was changed. Try again when that process is running again; read the document first.", err)
	}
	return "The relayfs process that serves the notes ended before it answered. It is unknown whether anything was changed. Wait a few seconds, then read the document again."
}

const serverGone = -32000

// fail answers a request that the server does not answer. For a tool call the response is a tool result with the error,
// because models read only results.
func (b *stdioBridge) fail(ctx context.Context, m *message, text string) {
	b.log.Debug("no response to a message", "method", m.Method, model.LogErr, text)
	if !m.isRequest() || ctx.Err() != nil {
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
	if m.Method == "tools/call" {
		answer["result"] = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": true}
	} else {
		answer["error"] = map[string]any{"code": serverGone, "message": text}
	}
	line, _ := json.Marshal(answer) // cannot fail, because the ID was decoded from JSON
	if err := b.send(append(line, '\n')); err != nil {
		b.lost(err)
	}
}

func (b *stdioBridge) send(line []byte) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	_, err := b.out.Write(line)
	return err
}
